"""The tools of the Model Context Protocol, served to one client over two descriptors."""

from kebab_stream.mcp_server.server import serve

__all__ = ["serve"]
