import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.language import guess_language
from tests.paths import SHARED


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("파드를 생성하고 kubectl get pods 로 Kubernetes cluster 상태를 확인한다", "ko"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "ko"),
        ("これは日本語の文章です", "ja"),
        ("カタカナ", "ja"),
        ("这是一个中文句子", "zh"),
        ("The café serves plain English to everyone who asks for it, all day long and every day of the year", "en"),
        ("Les élèves étaient déjà là", "und"),
        ("Это русский текст", "ru"),
        ("Це український текст, який можна знайти", "uk"),
        ("Текст", "und"),
        ("Ελληνικό κείμενο", "el"),
        ("مرحبا بالعالم", "ar"),
        ("این یک متن فارسی است که گفته‌اند", "fa"),
        ("שלום עולם", "he"),
        ("สวัสดีครับ", "th"),
        ("यह हिंदी में है", "hi"),
        ("An English page that once says 안녕", "en"),
        ("The label of the button in the Korean version of this page says 저장하기", "en"),
        ("kubectl create deployment nginx --image=nginx --replicas 3 --namespace default 배포 만들기", "ko"),
        ("1234 --- 👩", "und"),
        ("", "und"),
    ],
)
def test_scripts_tell_the_language(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Konfiguration wird beim Start gelesen; danach können Änderungen nur noch über die Schnittstelle", "de"),
        (
            "Le fichier de configuration est lu au démarrage, et les modifications ne sont prises en compte qu'après",
            "fr",
        ),
        (
            "El archivo de configuración se lee al iniciar y los cambios se aplican después de reiniciar el servicio",
            "es",
        ),
        (
            "Il file di configurazione viene letto all'avvio e le modifiche hanno effetto dopo il riavvio del server",
            "it",
        ),
        ("O arquivo de configuração é lido na inicialização e as alterações só têm efeito depois de reiniciar", "pt"),
        ("Het configuratiebestand wordt bij het opstarten gelezen en wijzigingen worden pas daarna toegepast", "nl"),
        ("Plik konfiguracyjny jest odczytywany podczas uruchamiania, a zmiany są stosowane po ponownym starcie", "pl"),
        ("Konfigurační soubor se načítá při spuštění a změny se projeví až po restartování služby na serveru", "cs"),
        ("Konfigurationsfilen läses vid start och ändringar träder i kraft först efter att tjänsten startats om", "sv"),
        (
            "Yapılandırma dosyası başlangıçta okunur ve değişiklikler hizmet yeniden başlatıldıktan sonra geçerli olur",
            "tr",
        ),
        ("Tệp cấu hình được đọc khi khởi động và các thay đổi chỉ có hiệu lực sau khi khởi động lại dịch vụ", "vi"),
        ("Berkas konfigurasi dibaca saat dimulai dan perubahan hanya berlaku setelah layanan dimulai ulang", "id"),
        ("Asetustiedosto luetaan käynnistyksen yhteydessä ja muutokset tulevat voimaan vasta palvelun jälkeen", "fi"),
    ],
)
def test_languages_with_latin_letters_are_told_apart(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "kubectl get pods",
        "docker compose up -d",
        "Espresso ratio 1:2",
        "Postgres vacuum analyze",
        "git rebase -i HEAD~3",
        "npm install vite rollup esbuild typescript eslint prettier vitest jsdom happy-dom",
        "aiofiles anyio asyncclick fastembed filelock markdown-it-py numpy orjson pydantic rich tokenizers",
        "def main(argv=None): parser = argparse.ArgumentParser(); args = parser.parse_args(argv); run(args)",
        "SELECT id, name FROM users WHERE active = 1 ORDER BY created_at DESC LIMIT 10",
        "Genre\nRating\nMaker\nScreenshot\nPlatform\nStudio\nRelease date\nSteam",
    ],
)
def test_what_is_written_about_software_is_english_unless_proven_otherwise(text: str) -> None:
    assert guess_language(text) == "en"


@pytest.mark.parametrize("name", ["rustbook-en", "vue-en", "kepano-vault"])
def test_no_english_documentation_is_taken_for_another_language(name: str) -> None:
    root = SHARED / "corpora" / name
    if not root.exists():
        pytest.skip("needs the shared corpora")
    texts = [path.read_text("utf-8") for path in root.rglob("*.md")]

    assert {guess_language(text) for text in texts} == {"en"}
    assert {guess_language(text[:80]) for text in texts} <= {"en", "und"}


@given(st.text() | st.text(st.characters(codec="latin-1"), min_size=30))
def test_any_text_has_a_short_answer_that_is_always_the_same(text: str) -> None:
    language = guess_language(text)

    assert 2 <= len(language) <= 3
    assert guess_language(text) == language


def test_english_needs_no_model() -> None:
    program = """
import sys
from kebab_stream.ingest.language import guess_language
from tests.paths import SHARED
assert guess_language("the page that you are looking for is not there") == "en"
assert guess_language("한국어 문서와 Kubernetes") == "ko"
assert "py3langid" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
