# shellcheck shell=bash
# What the tuning scripts share: their common options, showing and making changes, recording what was there, undoing.
#
# A script names itself in $script, sources this file, calls parse_common for options it does not know, and makes each
# change by set_value, write_file or run_command. Without --apply these only say what they would do. Everything happens below
# $root, which is empty for this machine; the tests give a recorded tree. Below another root no command is ever run.
#
# What was there is kept in var/lib/ringpoll/undo/SCRIPT, a line a change, tab-separated:
#     value    PATH  OLD       the kernel's file PATH held OLD
#     file     PATH  OLD       the file PATH held OLD (base64); empty OLD and kind "absent": it did not exist
#     command  COMMAND         what undoes a command that was run
export LC_ALL=C

: "${script:?is set by the script that sources this}"
root="${ROOT:-}"
mode=show
changes=0
failures=0

say() { printf '%s\n' "$*"; }
warn() { printf '%s: %s\n' "$script" "$*" >&2; }
fail() {
    warn "$@"
    exit 1
}
wrong_usage() {
    warn "$*; see --help"
    exit 2
}

common_usage() {
    cat <<'USAGE'
  --apply      make the changes, which otherwise are only shown; record what was there
  --undo       restore what was recorded
  --root DIR   work on the tree below DIR instead of this machine (also: environment variable ROOT); runs no commands
  --help       this text
USAGE
}

# parse_common OPTION [VALUE]: sets $shift_by to how many words it took
parse_common() {
    # shellcheck disable=SC2034 # the callers shift by it
    shift_by=1
    case "$1" in
        --apply) mode=apply ;;
        --undo) mode=undo ;;
        --root)
            [ $# -ge 2 ] || wrong_usage "--root needs a folder"
            root="${2%/}"
            # shellcheck disable=SC2034
            shift_by=2
            ;;
        --help | -h)
            usage
            common_usage
            exit 0
            ;;
        *) wrong_usage "unknown option '$1'" ;;
    esac
}

# value_of OPTION [VALUE]: prints the value, or ends with wrong usage
value_of() {
    if [ $# -lt 2 ] || [ -z "$2" ]; then wrong_usage "$1 needs a value"; fi
    printf '%s\n' "$2"
}

check_root() {
    [ -z "$root" ] || [ -d "$root" ] || wrong_usage "--root $root is not a folder"
    if [ "$mode" != show ] && [ -z "$root" ] && [ "$(id -u)" != 0 ]; then
        fail "changing this machine needs root: run it by sudo"
    fi
}

# --- CPU lists -------------------------------------------------------------------------------------------------------

# cpus LIST: the numbers of a list like 0-3,8, ascending, in one line; fails if it is no such list
cpus() {
    local part cpu
    local -A seen=()
    [ -n "$1" ] || return 0
    [[ "$1" =~ ^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$ ]] || return 1
    for part in ${1//,/ }; do
        [ "${part%-*}" -le "${part#*-}" ] || return 1
        for ((cpu = ${part%-*}; cpu <= ${part#*-}; cpu++)); do seen[$cpu]=1; done
    done
    ascending "${!seen[@]}"
}

# ascending NUMBER...: sorted, in one line; an indexed array keeps its indices in order
ascending() {
    local number
    local -a sorted=()
    for number in "$@"; do sorted[number]=1; done
    printf '%s\n' "${!sorted[*]}"
}

# cpu_list NUMBER...: ascending numbers as a list
cpu_list() {
    local cpu first="" last="" out=""
    for cpu in "$@" end; do
        if [ -n "$first" ] && [ "$cpu" != "$((last + 1))" ]; then
            out+="${out:+,}$first"
            [ "$first" = "$last" ] || out+="-$last"
            first=""
        fi
        [ -n "$first" ] || first="$cpu"
        last="$cpu"
    done
    printf '%s\n' "$out"
}

# ordered LIST: the same list as the kernel would write it
ordered() {
    # shellcheck disable=SC2046 # numbers
    cpu_list $(cpus "$1")
}

online() { cat "$root/sys/devices/system/cpu/online" 2>/dev/null || fail "$root/sys/devices/system/cpu/online cannot be read"; }

# minus A B, both A B: the CPUs of list A that are not, or that are, in list B, as a list
minus() { pick no "$@"; }
both() { pick yes "$@"; }
pick() { # yes|no A B
    local cpu
    local -A other=()
    local -a picked=()
    for cpu in $(cpus "$3"); do other[$cpu]=yes; done
    for cpu in $(cpus "$2"); do
        if [ "${other[$cpu]:-no}" = "$1" ]; then picked+=("$cpu"); fi
    done
    cpu_list "${picked[@]}"
}

# check_cpus OPTION LIST: ends with wrong usage unless it is a list of CPUs that are online
check_cpus() {
    local missing
    if [ -z "$2" ] || ! cpus "$2" >/dev/null; then wrong_usage "$1 '$2' is not a list of CPUs like 2-5,8"; fi
    missing=$(minus "$2" "$(online)")
    [ -z "$missing" ] || wrong_usage "$1: CPU $missing is not online (online: $(online))"
}

# cpu_mask LIST: as the kernel writes masks, groups of 32 bits in hexadecimal
cpu_mask() {
    local cpu group out="" all
    local -a groups=()
    all=$(cpus "$(online)")
    for cpu in $(cpus "$1"); do groups[cpu / 32]=$((${groups[cpu / 32]:-0} | 1 << cpu % 32)); done
    for ((group = ${all##* } / 32; group >= 0; group--)); do
        if [ -z "$out" ]; then
            printf -v out '%x' "${groups[group]:-0}"
        else
            printf -v out '%s,%08x' "$out" "${groups[group]:-0}"
        fi
    done
    printf '%s\n' "$out"
}

# --- changes ---------------------------------------------------------------------------------------------------------

undo_file() { printf '%s\n' "$root/var/lib/ringpoll/undo/$script"; }

# record KIND TARGET [OLD]: only the first record of a target counts, so that --undo brings back what was there before all
record() {
    local file
    file=$(undo_file)
    mkdir -p "$(dirname "$file")"
    if [ ! -e "$file" ] || ! awk -F'\t' -v target="$2" '$2 == target { found = 1 } END { exit !found }' "$file"; then
        printf '%s\t%s\t%s\n' "$1" "$2" "${3:-}" >> "$file"
    fi
}

# set_value PATH VALUE: a file of the kernel that holds one value; the path without leading slash
set_value() {
    local old new
    if ! old=$(cat "$root/$1" 2>/dev/null); then
        warn "/$1 cannot be read: left as it is"
        failures=$((failures + 1))
        return 0
    fi
    # Where the kernel shows all choices, the one in brackets holds.
    case "$old" in *\[*\]*) old="${old#*[}" old="${old%%]*}" ;; esac
    if [ "$old" = "$2" ]; then
        say "as it should be: /$1 = $2"
        return 0
    fi
    changes=$((changes + 1))
    if [ "$mode" = show ]; then
        say "would set /$1: $old -> $2"
        return 0
    fi
    record value "$1" "$old"
    if ! { printf '%s\n' "$2" > "$root/$1"; } 2>/dev/null; then
        warn "the kernel does not take '$2' for /$1: it stays '$old'"
        failures=$((failures + 1))
        return 0
    fi
    new=$(cat "$root/$1")
    case "$new" in *\[*\]*) new="${new#*[}" new="${new%%]*}" ;; esac
    say "set /$1: $old -> $new"
    if [ "$new" != "$2" ]; then
        warn "/$1 is $new, not $2 as asked"
        failures=$((failures + 1))
    fi
}

# write_file PATH CONTENT: a configuration file as a whole
write_file() {
    local old=""
    if [ -e "$root/$1" ]; then
        old=$(cat "$root/$1")
        if [ "$old" = "$2" ]; then
            say "as it should be: /$1"
            return 0
        fi
    fi
    changes=$((changes + 1))
    if [ "$mode" = show ]; then
        say "would write /$1:"
        # diff ends with 1 because there is a difference.
        { diff <(printf '%s\n' "$old") <(printf '%s\n' "$2") || true; } |
          sed -n 's/^< \(..*\)/    - \1/p; s/^> \(..*\)/    + \1/p'
        return 0
    fi
    if [ -e "$root/$1" ]; then
        record file "$1" "$(base64 -w0 "$root/$1")"
    else
        record absent "$1"
    fi
    mkdir -p "$(dirname "$root/$1")"
    printf '%s\n' "$2" > "$root/$1"
    say "wrote /$1"
}

# run_command UNDO COMMAND...: UNDO is the command that takes it back, or empty
run_command() {
    local undo="$1"
    shift
    if [ "$mode" = show ]; then
        say "would run: $*"
    elif [ -n "$root" ]; then
        [ -z "$undo" ] || record command "$undo"
        say "not run below $root: $*"
    else
        [ -z "$undo" ] || record command "$undo"
        say "running: $*"
        "$@" || {
            warn "'$*' failed"
            failures=$((failures + 1))
        }
    fi
}

undo_line() { # KIND TARGET OLD; fails if it could not be restored
    case "$1" in
        value)
            { printf '%s\n' "$3" > "$root/$2"; } 2>/dev/null || {
                warn "/$2 could not be set back to '$3'"
                return 1
            }
            say "set back /$2: $3"
            ;;
        file)
            printf '%s' "$3" | base64 -d > "$root/$2" || return 1
            say "restored /$2"
            ;;
        absent)
            rm -f "$root/$2"
            say "removed /$2"
            ;;
        command)
            if [ -n "$root" ]; then
                say "not run below $root: $2"
            else
                say "running: $2"
                # The line was written by this script, as root.
                bash -c "$2" || {
                    warn "'$2' failed"
                    return 1
                }
            fi
            ;;
        *)
            warn "unknown line in $(undo_file): $1"
            return 1
            ;;
    esac
}

# undo: restores the last change first; lines that fail stay recorded
undo() {
    local file kind target old left=""
    file=$(undo_file)
    if [ ! -s "$file" ]; then
        say "nothing is recorded: $script has changed nothing here, or it is undone already"
        return 0
    fi
    while IFS=$'\t' read -r kind target old; do
        if ! undo_line "$kind" "$target" "$old"; then
            left="$kind"$'\t'"$target"$'\t'"$old"$'\n'"$left"
            failures=$((failures + 1))
        fi
    done < <(tac "$file")
    if [ -n "$left" ]; then
        printf '%s' "$left" > "$file"
    else
        rm -f "$file"
    fi
}

# finish: the last line, and the exit code
finish() {
    if [ "$mode" = show ] && [ "$changes" -gt 0 ]; then
        say "nothing was changed; --apply makes these changes, --undo takes them back"
    fi
    [ "$failures" = 0 ] || exit 1
}
