"""A virtual environment with the peers and what the tests of the Python package need, created on first use in target/peers."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "target" / "peers"
REQUIREMENTS = ROOT / "peers" / "requirements.txt"

# The exit code if the peers cannot be installed; `cargo xtask` then skips the step.
UNAVAILABLE = 77


def enter():
    """Restarts the script inside the environment."""
    if Path(sys.prefix) != VENV:
        python = install()
        os.execv(python, [str(python), *sys.argv])


def skip(what, why):
    """Reports something that cannot be checked here; `cargo xtask test` lists it."""
    print(f"skipped: {what}: {why}", file=sys.stderr)
    if os.environ.get("RANKWISE_SKIPS"):
        with open(os.environ["RANKWISE_SKIPS"], "a") as file:
            file.write(f"missing\t{what}\t{why}\n")


def install():
    """Installs the peers if missing; returns the environment's Python."""
    python = VENV / "bin" / "python"
    stamp = VENV / "requirements.txt"
    wanted = REQUIREMENTS.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        print("installing the peers into", VENV.relative_to(ROOT), file=sys.stderr)
        try:
            import venv

            venv.create(VENV, with_pip=True, clear=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-compile", "-r", REQUIREMENTS], check=True)
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            print("the peers cannot be installed:", error, file=sys.stderr)
            sys.exit(UNAVAILABLE)
        stamp.write_text(wanted)
    return python


if __name__ == "__main__":
    install()
