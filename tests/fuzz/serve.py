"""Start the detector with the built-in model and let Schemathesis ask it, with tokens and without.

.venv/bin/python tests/fuzz/serve.py build/fuzz/schemathesis/bin/schemathesis
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PURA = [sys.executable, "-m", "pura.cli"]
# A request may be well formed and name a part that its file does not have.
HOOKS = ROOT / "tests" / "fuzz" / "bodies.py"
LEAVING_OUT = ["--exclude-checks", "positive_data_acceptance"]


def main() -> None:
    """Start, ask, end; its exit code is that of the worst answer."""
    from pura.base.paths import user_paths

    models = user_paths().models
    sample = json.loads((ROOT / "tests/data/samples/marked-tbcc.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "data").mkdir()
        (home / "data" / "models").symlink_to(models, target_is_directory=True)
        (home / "p.json").write_text(json.dumps(sample["profile"]))
        (home / "k.hex").write_text(sample["key_hex"])
        (home / "k.hex").chmod(0o600)
        entry = {"payload": sample["texts"][0]["payload"]}
        entry |= {"manifest": "urn:c2pa:1", "file": "p.json"}
        index = {"schema": "pura-manifests/1", "alg": "org.example.pura.1", "manifests": [entry]}
        (home / "m.json").write_text(json.dumps(index))
        there = os.environ | {"PURA_HOME": name}
        made = [*PURA, "--quiet", "serve", "token", "new"]
        tokens = [
            subprocess.check_output(
                [*made, role, "--role", role, *granted], env=there, text=True
            ).strip()
            for role, granted in (("internal", []), ("publisher", ["--profile", f"{home}/p.json"]))
        ]
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            where = f"127.0.0.1:{free.getsockname()[1]}"
        given = f"--profile {home}/p.json --key-file {home}/k.hex --manifests {home}/m.json"
        given += f" --listen {where} --anyone --public-lookups --per-day 0 --per-day-block 0"
        service = subprocess.Popen(
            [*PURA, "serve", *given.split()], env=there, stderr=subprocess.DEVNULL
        )
        try:
            wait_for(f"http://{where}/readyz", service)
            described = f"http://{where}/v1/openapi.json"
            codes = [
                subprocess.run(
                    [Path(sys.argv[1]).resolve(), "run", described, *LEAVING_OUT, *asked],
                    check=False,
                    cwd=home,
                    env=os.environ | {"SCHEMATHESIS_HOOKS": str(HOOKS)},
                ).returncode
                for asked in (
                    *(["--header", f"Authorization: Bearer {token}"] for token in tokens),
                    ["--max-examples", "10"],
                )
            ]
            assert service.poll() is None, "the service is gone"
        finally:
            service.kill()
            service.wait()
    sys.exit(max(codes))


def wait_for(address: str, service: subprocess.Popen[bytes]) -> None:
    """Wait until the model is loaded."""
    while service.poll() is None:
        with suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.2)
    sys.exit("the service did not start")


if __name__ == "__main__":
    main()
