"""Source code in each language that is cut at its definitions, and the blocks that are found in it."""

SOURCES: dict[str, str] = {}
BLOCKS: dict[str, list[tuple[int, int, str | None]]] = {}
"""First line, last line, symbol."""

SOURCES["python"] = """\
import os

LIMIT = 3

# Keeps things.
@dataclass
class Store(Base):
    \"\"\"Docs.\"\"\"

    size: int = 0

    # opens it
    @property
    async def open(self) -> None:
        def inner():
            pass

    class Index:
        def add(self): ...
    color = 1

square = lambda x: x
type Pair = tuple[int, int]

try:
    import fast
except ImportError:
    def fast():
        pass

def 한국어_이름(): pass
"""
BLOCKS["python"] = [
    (1, 1, None),
    (3, 3, None),
    (5, 10, "Store"),
    (12, 16, "Store.open"),
    (18, 18, "Store.Index"),
    (19, 19, "Store.Index.add"),
    (20, 20, "Store"),
    (22, 22, "square"),
    (23, 23, "Pair"),
    (25, 27, None),
    (28, 29, "fast"),
    (31, 31, "한국어_이름"),
]

SOURCES["javascript"] = """\
import x from 'y';

/** Adds. */
export const add = (a, b) => {
  return a + b;
};
export default function main() {
}
const memoized = memo(() => {
  return 1;
});
class Store extends Base {
  #size = 0;
  static open() {
    return 1;
  }
  get 'odd name'() {
    return 2;
  }
  handle = () => {
  };
  [Symbol.iterator]() {
  }
}
Store.prototype.close = function () {
};
exports.quit = async () => {
};
(function () {
  function hidden() {
  }
})();
const api = {
  read() {
  },
  write: () => {
  },
};
export default {
  data() {
  },
};
"""
BLOCKS["javascript"] = [
    (1, 1, None),
    (3, 6, "add"),
    (7, 8, "main"),
    (9, 11, "memoized"),
    (12, 13, "Store"),
    (14, 16, "Store.open"),
    (17, 19, "Store.odd name"),
    (20, 21, "Store.handle"),
    (22, 24, "Store.[Symbol.iterator]"),
    (25, 26, "Store.close"),
    (27, 28, "quit"),
    (29, 29, None),
    (30, 32, "hidden"),
    (33, 33, "api"),
    (34, 35, "api.read"),
    (36, 38, "api.write"),
    (39, 39, "default"),
    (40, 42, "default.data"),
]

SOURCES["typescript"] = """\
export interface Shape {
  area(): number;
}
export type Id = string;
enum Color { Red }
@Component({
  selector: 'x',
})
export abstract class Box<T> {
  @Input() size: number;
  @HostListener('x')
  open(): void {
  }
  onClick = (): void => {
  };
}
namespace Util {
  export function trim(a: string): string {
    return a;
  }
}
declare module "lib" {
  function load(): void;
}
const View = () => <T,>(x: T) => x;
"""
BLOCKS["typescript"] = [
    (1, 3, "Shape"),
    (4, 4, "Id"),
    (5, 5, "Color"),
    (6, 10, "Box"),
    (11, 13, "Box.open"),
    (14, 16, "Box.onClick"),
    (17, 17, None),
    (18, 21, "Util.trim"),
    (22, 22, None),
    (23, 24, "lib.load"),
    (25, 25, "View"),
]

SOURCES["rust"] = """\
//! Crate.
use std::fmt;

/// A store.
#[derive(Debug)]
pub struct Store<T> {
    items: Vec<T>,
}
impl<T> Store<T> {
    /// Opens it.
    pub fn open(&self) -> bool {
        true
    }
}
impl<'a> fmt::Display for Ref<'a, Vec<u8>> {
    fn fmt(&self) {
    }
}
trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        String::new()
    }
}
enum Color { Red }
macro_rules! square {
    ($x:expr) => { $x * $x };
}
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn opens() {
    }
}
"""
BLOCKS["rust"] = [
    (1, 2, None),
    (4, 8, "Store"),
    (9, 9, "Store"),
    (10, 14, "Store.open"),
    (15, 15, "Ref"),
    (16, 18, "Ref.fmt"),
    (19, 20, "Shape"),
    (21, 24, "Shape.name"),
    (25, 25, "Color"),
    (26, 28, "square"),
    (29, 31, None),
    (32, 35, "tests.opens"),
]

SOURCES["go"] = """\
package main

import "fmt"

// Store keeps.
type Store[K comparable] struct {
	items map[K]string
}
type (
	ID   int
	Shape interface {
		Area() float64
	}
)

func (s *Store[K]) Open(name string) error {
	return nil
}
func (Store[K]) Close() {
}
func main() {
}

var handler = func() {
}
"""
BLOCKS["go"] = [
    (1, 1, None),
    (3, 3, None),
    (5, 8, "Store"),
    (9, 9, None),
    (10, 10, "ID"),
    (11, 14, "Shape"),
    (16, 18, "Store.Open"),
    (19, 20, "Store.Close"),
    (21, 22, "main"),
    (24, 25, "handler"),
]

SOURCES["java"] = """\
package a;

/** Outer. */
@Service
public class Outer<T> {
    private int size;

    public Outer() {
    }

    @Override
    public String toString() {
        return "";
    }

    static class Inner {
        void run() {
        }
    }

    enum Color { RED; void paint() {} }
}
interface Shape {
    double area();
}
record Point(int x, int y) {
}
"""
BLOCKS["java"] = [
    (1, 1, None),
    (3, 6, "Outer"),
    (8, 9, "Outer.Outer"),
    (11, 14, "Outer.toString"),
    (16, 16, "Outer.Inner"),
    (17, 19, "Outer.Inner.run"),
    (21, 22, "Outer.Color"),
    (23, 23, "Shape"),
    (24, 25, "Shape.area"),
    (26, 27, "Point"),
]

SOURCES["c"] = """\
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* A point. */
typedef struct {
    int x;
} point_t;

struct node {
    struct node *next;
};
typedef int (*callback)(int);
int declared(int);

static const char *
name_of(const point_t *p)
{
    return 0;
}
#ifdef UNIX
int (*pick(void))(int) {
    return 0;
}
#endif
"""
BLOCKS["c"] = [
    (1, 1, None),
    (2, 2, "MAX"),
    (4, 7, "point_t"),
    (9, 11, "node"),
    (12, 12, "callback"),
    (13, 13, None),
    (15, 19, "name_of"),
    (20, 20, None),
    (21, 24, "pick"),
]

SOURCES["cpp"] = """\
#include <map>

namespace store::inner {

template <typename T>
class Store : public Base<T> {
public:
    Store();
    ~Store() {}
    bool operator==(const Store &other) const {
        return true;
    }
    struct Node {
        int size() const { return 1; }
    };
};

} // namespace

template <typename K>
void Store<std::map<K, int>>::open(int x) {
}
Store::operator bool() const {
    return true;
}
std::ostream &operator<<(std::ostream &out, const Store &store) {
    return out;
}
auto add = [](int a) {
    return a;
};
extern "C" {
int plain(void) {
    return 0;
}
}
"""
BLOCKS["cpp"] = [
    (1, 1, None),
    (3, 3, None),
    (5, 8, "store.inner.Store"),
    (9, 9, "store.inner.Store.~Store"),
    (10, 12, "store.inner.Store.operator=="),
    (13, 13, "store.inner.Store.Node"),
    (14, 18, "store.inner.Store.Node.size"),
    (20, 22, "Store.open"),
    (23, 25, "Store.operator bool"),
    (26, 28, "operator<<"),
    (29, 31, "add"),
    (32, 32, None),
    (33, 36, "plain"),
]

SOURCES["bash"] = """\
#!/bin/sh
set -e

# Greets.
greet() {
  echo "hi"
}
function ns::say-it {
  greet
}
greet
"""
BLOCKS["bash"] = [
    (1, 2, None),
    (4, 7, "greet"),
    (8, 10, "ns.say-it"),
    (11, 11, None),
]

SOURCES["ruby"] = """\
require "set"

module Shop
  # A store.
  class Store < Base
    attr_reader :size

    def initialize(size)
      @size = size
    end

    def self.open!
    end

    class << self
      def close?
      end
    end

    def <=>(other)
    end
  end

  Point = Struct.new(:x) do
    def norm
    end
  end
end
"""
BLOCKS["ruby"] = [
    (1, 1, None),
    (3, 3, "Shop"),
    (4, 6, "Shop.Store"),
    (8, 10, "Shop.Store.initialize"),
    (12, 13, "Shop.Store.open!"),
    (15, 15, "Shop.Store"),
    (16, 18, "Shop.Store.close?"),
    (20, 22, "Shop.Store.<=>"),
    (24, 24, "Shop.Point"),
    (25, 28, "Shop.Point.norm"),
]

SOURCES["csharp"] = """\
using System;

namespace Shop.Core
{
    /// <summary>A store.</summary>
    [Serializable]
    public class Store<T> : Base
    {
        public int Size { get; set; }

        public Store()
        {
        }

        public static Store<T> operator +(Store<T> a)
        {
            return a;
        }

        public int Total
        {
            get { return 1; }
        }
    }

    public interface IShape
    {
        double Area();
    }

    enum Color { Red }
}
"""
BLOCKS["csharp"] = [
    (1, 1, None),
    (3, 4, None),
    (5, 9, "Shop.Core.Store"),
    (11, 13, "Shop.Core.Store.Store"),
    (15, 18, "Shop.Core.Store.operator"),
    (20, 24, "Shop.Core.Store.Total"),
    (26, 27, "Shop.Core.IShape"),
    (28, 29, "Shop.Core.IShape.Area"),
    (31, 32, "Shop.Core.Color"),
]

SOURCES["php"] = """\
<?php
namespace App;

/** A store. */
#[Entity]
abstract class Store extends Base
{
    const SIZE = 1;

    public function open(int $a)
    {
        return $a;
    }
}
trait Walks
{
    function walk() {
    }
}
function helper() {
}
$handler = function () {
};
?>
<p>Done</p>
"""
BLOCKS["php"] = [
    (1, 2, None),
    (4, 8, "Store"),
    (10, 14, "Store.open"),
    (15, 16, "Walks"),
    (17, 19, "Walks.walk"),
    (20, 21, "helper"),
    (22, 23, "handler"),
    (24, 25, None),
]

SOURCES["kotlin"] = """\
package a

/** A store. */
@Serializable
class Store(val size: Int) : Base() {
    companion object {
        fun make() = 1
    }

    constructor(a: String) : this(1) {
    }

    inner class Node {
        fun next() {
        }
    }
}

object Single {
    fun run() {
    }
}

fun String.shout(): String = uppercase()

val add = { x: Int ->
    x
}
"""
BLOCKS["kotlin"] = [
    (1, 1, None),
    (3, 6, "Store"),
    (7, 8, "Store.make"),
    (10, 11, "Store.constructor"),
    (13, 13, "Store.Node"),
    (14, 17, "Store.Node.next"),
    (19, 19, "Single"),
    (20, 22, "Single.run"),
    (24, 24, "shout"),
    (26, 28, "add"),
]

SOURCES["swift"] = """\
import Foundation

/// A store.
struct Store<T> {
    var size: Int

    init(size: Int) {
        self.size = size
    }

    static func == (a: Store, b: Store) -> Bool {
        true
    }

    var isEmpty: Bool {
        size == 0
    }
}

extension Store: Shape {
    func area() -> Double {
        1
    }
}

protocol Shape {
    func area() -> Double
}
"""
BLOCKS["swift"] = [
    (1, 1, None),
    (3, 5, "Store"),
    (7, 9, "Store.init"),
    (11, 13, "Store.=="),
    (15, 18, "Store.isEmpty"),
    (20, 20, "Store"),
    (21, 24, "Store.area"),
    (26, 26, "Shape"),
    (27, 28, "Shape.area"),
]

SOURCES["scala"] = """\
package a

/** A store. */
case class Store(size: Int) extends Base {
  def open(x: Int): Int = {
    x
  }
}

object Store {
  def apply() = new Store(1)
  val add = (x: Int) => x
}

trait Shape {
  def area: Double
}

def top(x: Int) = x
"""
BLOCKS["scala"] = [
    (1, 1, None),
    (3, 4, "Store"),
    (5, 8, "Store.open"),
    (10, 10, "Store"),
    (11, 11, "Store.apply"),
    (12, 13, "Store.add"),
    (15, 15, "Shape"),
    (16, 17, "Shape.area"),
    (19, 19, "top"),
]

SOURCES["lua"] = """\
local M = {}

--- Opens it.
function M.open(a)
end

function M:close()
end

local function helper()
end

M.quit = function()
end

return M
"""
BLOCKS["lua"] = [
    (1, 1, None),
    (3, 5, "M.open"),
    (7, 8, "M.close"),
    (10, 11, "helper"),
    (13, 14, "M.quit"),
    (16, 16, None),
]
