"""Which of Android's own programs does a virtual phone have? Those that are asked for facts, and stay-awake.

Everything else on its path is the host's. What changes a phone is written down in a log, so that
somebody can look what was changed, and when it was put back.
"""

CALLS_LOG = "/data/calls.log"

_SHELL_GROUPS = "2000(shell),1004(input),1007(log),3003(inet),3009(readproc)"
_BODIES = {
    "getprop": """if [ -z "$1" ]; then
  sed -e 's/=/]: [/' -e 's/^/[/' -e 's/$/]/' "$R/system/build.prop"; exit 0
fi
value=$(grep -m1 "^$1=" "$R/system/build.prop") && echo "${value#*=}" || echo "$2"
""",
    "dumpsys": """file="$R/system/dumpsys/$1.txt"
[ -f "$file" ] && exec cat "$file"
echo "Can't find service: $1" >&2; exit 20
""",
    "id": f"""case "$1" in
-u) echo 2000;;
*) echo "uid=2000(shell) gid=2000(shell) groups={_SHELL_GROUPS} context=u:r:shell:s0";;
esac
""",
    # Android's own hashes with the instructions of the processor, which that of most hosts does not.
    "sha256sum": """[ $# = 0 ] && command -v openssl > /dev/null && exec openssl dgst -sha256 -r
exec /usr/bin/sha256sum "$@"
""",
    "settaskprofile": """[ $# -ge 2 ] || { echo "Usage: settaskprofile <tid> <profile>" >&2; exit 1; }
echo "settaskprofile $2" >> "$R/data/calls.log"
echo "Profile $2 is applied successfully!"
""",
    "getenforce": "echo Enforcing\n",
    "settings": """echo "settings $*" >> "$R/data/calls.log"
file="$R/data/settings.$2.$3"
case "$1" in
get) [ -f "$file" ] && cat "$file" || echo null;;
put) echo "$4" > "$file";;
delete) rm -f "$file"; echo "Deleted 1 rows";;
esac
""",
}
PROFILE_DENIED = """#!/bin/sh
echo "Failed to apply profile $2"; exit 1
"""
_LOGGED = ("svc", "input", "am", "pm", "wm", "cmd", "setprop", "logcat")


def program_texts(prefix: str) -> dict[str, str]:
    """The programs by name; ``prefix`` comes before their absolute paths."""
    logged = {name: f'echo "{name} $*" >> "$R{CALLS_LOG}"\n' for name in _LOGGED}
    return {name: f"#!/bin/sh\nR='{prefix}'\n{body}" for name, body in {**_BODIES, **logged}.items()}
