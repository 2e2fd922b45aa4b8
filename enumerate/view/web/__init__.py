"""Pages in the browser, served on this machine only, and the report as one file."""

from importlib.util import find_spec

from ...model.errors import BadRequest

if missing := [name for name in ("jinja2", "starlette", "uvicorn") if find_spec(name) is None]:
    raise BadRequest(f"pages need {', '.join(missing)}: pip install 'knights-tour-enumerator[web]'")
