"""The completion scripts, written out whole: a shell that completes starts no program."""

from __future__ import annotations

from negmem.cli.tree import Command, Parameter

_HEAD = "# negmem completions for {shell}. Generated from the command line: make generate\n"


def completion_files(root: Command) -> dict[str, str]:
    """The scripts by their names in completions/."""
    return {"negmem.bash": _bash(root), "_negmem": _zsh(root), "negmem.fish": _fish(root)}


def _key(command: Command) -> str:
    return " ".join(command.words)


def _plain(text: str) -> str:
    """A help text that no shell reads anything into."""
    kept = " ".join(text.split())
    for sign, instead in (
        ("'", "’"),
        ('"', "”"),
        ("`", ""),
        ("\\", "/"),
        ("$", ""),
        ("[", "("),
        ("]", ")"),
    ):
        kept = kept.replace(sign, instead)
    return kept


def _shared(root: Command) -> frozenset[str]:
    """The flags that every command has: written once in the bash script."""
    leaves = [command for command in root.walk() if not command.commands]
    found = [{flag for option in leaf.options for flag in option.flags} for leaf in leaves]
    return frozenset(set.intersection(*found)) if found else frozenset()


_BASH = r"""
_negmem()
{
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="" path="" word commands options values arguments
    local at=1 given=0
    [ "$COMP_CWORD" -gt 0 ] && prev="${COMP_WORDS[COMP_CWORD-1]}"
    COMPREPLY=()
    while [ "$at" -lt "$COMP_CWORD" ]; do
        word="${COMP_WORDS[at]}"
        _negmem_command "$path"
        case " $commands " in
            *" $word "*) path="${path:+$path }$word" ;;
            *) break ;;
        esac
        at=$((at + 1))
    done
    _negmem_command "$path"
    _negmem_values "$path" "$prev"
    if [ -n "$values" ]; then
        case "$values" in
            @files) compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
            @folders) compopt -o dirnames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
            @word) ;;
            *) COMPREPLY=($(compgen -W "$values" -- "$cur")) ;;
        esac
        return 0
    fi
    case "$cur" in
        -*) COMPREPLY=($(compgen -W "$options" -- "$cur")); return 0 ;;
    esac
    prev=""
    while [ "$at" -lt "$COMP_CWORD" ]; do
        word="${COMP_WORDS[at]}"
        _negmem_values "$path" "$prev"
        case "$word" in
            -*) ;;
            *) [ -z "$values" ] && given=$((given + 1)) ;;
        esac
        prev="$word"
        at=$((at + 1))
    done
    _negmem_values "$path" "$given"
    case "$values" in
        @files) compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
        @folders) compopt -o dirnames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
        @word | "") COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
        *) COMPREPLY=($(compgen -W "$commands $values" -- "$cur")) ;;
    esac
    return 0
}

complete -F _negmem negmem
"""


def _takes(parameter: Parameter) -> str:
    if parameter.values:
        return " ".join(parameter.values)
    return {"file": "@files", "folder": "@folders"}.get(parameter.takes, "@word")


def _bash(root: Command) -> str:
    shared = _shared(root)
    leaf = next(command for command in root.walk() if not command.commands)
    common = [option for option in leaf.options if set(option.flags) <= shared]
    words = " ".join(flag for option in common for flag in option.flags if flag.startswith("--"))
    lines = [_HEAD.format(shell="bash"), f'_negmem_shared="{words}"', ""]
    lines += ["_negmem_command()", "{", '    commands="" options=""', '    case "$1" in']
    for command in root.walk():
        names = " ".join(inner.words[-1] for inner in command.commands)
        own = [o for o in command.options if command.commands or not set(o.flags) <= shared]
        flags = " ".join(flag for option in own for flag in option.flags if flag.startswith("--"))
        if not command.commands:
            flags = f"{flags} $_negmem_shared".strip()
        flags = f"{flags} --help".strip()
        lines.append(f'        "{_key(command)}") commands="{names}" options="{flags}" ;;')
    lines += ["    esac", "}", "", "_negmem_values()", "{", '    values=""', '    case "$2" in']
    for option in common:
        if option.takes != "nothing":
            lines.append(
                f'        {" | ".join(option.flags)}) values="{_takes(option)}"; return ;;'
            )
    lines += ["    esac", '    case "$1 $2" in']
    for command in root.walk():
        for option in command.options:
            if option.takes != "nothing" and not set(option.flags) <= shared:
                cases = " | ".join(f'"{_key(command)} {flag}"' for flag in option.flags)
                lines.append(f'        {cases}) values="{_takes(option)}" ;;')
        for number, argument in enumerate(command.arguments):
            if argument.values or argument.takes != "word":
                star = "*" if argument.is_repeatable else ""
                case = f'"{_key(command)} {number}"' if not star else f'"{_key(command)} "[0-9]*'
                lines.append(f'        {case}) values="{_takes(argument)}" ;;')
    lines += ["    esac", "}"]
    return "\n".join(lines) + _BASH


_ZSH = r"""
_negmem() {
    local path="" word
    local -a commands specs
    integer at=2
    while (( at < CURRENT )); do
        word=$words[at]
        _negmem_command "$path"
        (( ${commands[(I)$word:*]} )) || break
        path="${path:+$path }$word"
        (( at += 1 ))
    done
    _negmem_command "$path"
    if (( ${#commands} )) && [[ $words[CURRENT] != -* ]]; then
        _describe -t commands "negmem command" commands
        return
    fi
    words=("negmem" "${(@)words[at,-1]}")
    (( CURRENT -= at - 2 ))
    _arguments -S : $specs
}

if [ "$funcstack[1]" = "_negmem" ]; then
    _negmem "$@"
else
    compdef _negmem negmem
fi
"""


def _zsh_action(parameter: Parameter) -> str:
    if parameter.values:
        return "(" + " ".join(parameter.values) + ")"
    return {"file": "_files", "folder": "_files -/"}.get(parameter.takes, " ")


def _zsh_specs(command: Command) -> list[str]:
    specs = []
    for option in command.options:
        star = "*" if option.is_repeatable else ""
        others = "" if star or len(option.flags) < 2 else f"({' '.join(option.flags)})"
        name = _plain(option.metavar).replace(":", " ") or "value"
        value = "" if option.takes == "nothing" else f":{name}:{_zsh_action(option)}"
        said = _plain(option.help).replace(":", "\\:")
        specs += [f"'{others}{star}{flag}[{said}]{value}'" for flag in option.flags]
    for number, argument in enumerate(command.arguments, start=1):
        place = "*" if argument.is_repeatable else str(number)
        name = _plain(argument.metavar).replace(":", " ")
        specs.append(f"'{place}:{name}:{_zsh_action(argument)}'")
    return [*specs, "'--help[Show the help.]'"]


def _zsh(root: Command) -> str:
    lines = ["#compdef negmem", _HEAD.format(shell="zsh"), "_negmem_command() {"]
    lines += ["    commands=() specs=()", '    case "$1" in']
    for command in root.walk():
        lines.append(f'        "{_key(command)}")')
        if command.commands:
            named = " ".join(
                f"'{inner.words[-1]}:{_plain(inner.summary).replace(':', ' ')}'"
                for inner in command.commands
            )
            lines.append(f"            commands=({named})")
        inner = "\n                ".join(_zsh_specs(command))
        lines += [f"            specs=({inner})", "            ;;"]
    lines += ["    esac", "}"]
    return "\n".join(lines) + _ZSH


def _fish(root: Command) -> str:
    lines = [
        _HEAD.format(shell="fish"),
        "function __negmem_path",
        "    set -l path",
        "    for word in (commandline -opc)[2..-1]",
        "        string match -q -- '-*' $word; and break",
        '        contains -- (string join " " $path $word) $__negmem_commands; or break',
        "        set -a path $word",
        "    end",
        '    string join " " $path',
        "end",
        "",
        "function __negmem_at",
        "    set -l path (__negmem_path)",
        '    test "$path" = "$argv[1]"',
        "end",
        "",
        "function __negmem_given",
        "    set -l words (commandline -opc)[2..-1]",
        '    set -l length (count (string split -n " " (__negmem_path)))',
        "    set -l given 0",
        "    for word in $words[(math $length + 1)..-1]",
        "        string match -q -- '-*' $word; or set given (math $given + 1)",
        "    end",
        "    echo $given",
        "end",
        "",
        "set -g __negmem_commands " + " ".join(f"'{_key(c)}'" for c in root.walk() if c.words),
        "complete -c negmem -f",
    ]
    for command in root.walk():
        at = f'__negmem_at "{_key(command)}"'
        for inner in command.commands:
            said = _plain(inner.summary)
            lines.append(f"complete -c negmem -n '{at}' -a {inner.words[-1]} -d '{said}'")
        for option in command.options:
            lines.append(f"complete -c negmem -n '{at}' {_fish_option(option)}")
        lines.append(f"complete -c negmem -n '{at}' -l help -d 'Show the help.'")
        for number, argument in enumerate(command.arguments):
            if argument.values or argument.takes != "word":
                order = "" if argument.is_repeatable else f"; and test (__negmem_given) = {number}"
                lines.append(f"complete -c negmem -n '{at}{order}' {_fish_value(argument)}")
    return "\n".join(lines) + "\n"


def _fish_value(parameter: Parameter) -> str:
    if parameter.values:
        return f"-a '{' '.join(parameter.values)}'"
    return {"file": "-F", "folder": "-a '(__fish_complete_directories)'"}.get(parameter.takes, "")


def _fish_option(option: Parameter) -> str:
    names = " ".join(
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    )
    value = ""
    if option.takes == "file":
        value = " -r -F"
    elif option.takes != "nothing":
        value = f" -x {_fish_value(option)}".rstrip()
    return f"{names}{value} -d '{_plain(option.help)}'"
