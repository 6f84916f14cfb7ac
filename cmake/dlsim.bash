# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for dlsim(1): words come from the program's own help and lists.
_dlsim()
{
    local cur prev command i
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]}
    # "--option=value" arrives as three words.
    if [[ $cur == "=" ]]; then
        cur=""
    elif [[ $prev == "=" ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(dlsim --help |
            sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')" -- "$cur")
        return
    fi
    command=run
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} != -* ]]; then
            command=${COMP_WORDS[i]}
            break
        elif [[ ${COMP_WORDS[i]} == -* ]]; then
            break
        fi
    done
    case $prev in
    --scheduler | --schedulers)
        mapfile -t COMPREPLY < <(compgen -W "$(_dlsim_names schedulers)" -- "$cur")
        return
        ;;
    --placement | --placements)
        mapfile -t COMPREPLY < <(compgen -W "$(_dlsim_names placements)" -- "$cur")
        return
        ;;
    --trace-format | --format)
        mapfile -t COMPREPLY < <(compgen -W "$(_dlsim_names formats)" -- "$cur")
        return
        ;;
    --progress | --color)
        mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur")
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(dlsim "$command" --help 2>/dev/null |
            grep -o -- '--[a-z][a-z_-]*' | sort -u)" -- "$cur")
    elif [[ $command == list ]]; then
        mapfile -t COMPREPLY < <(compgen -W "schedulers placements predictors formats gpus assignments" -- "$cur")
    elif [[ $command == trace && $prev == trace ]]; then
        mapfile -t COMPREPLY < <(compgen -W "stats convert generate" -- "$cur")
    elif [[ $command == sweep && $prev == sweep ]]; then
        mapfile -t COMPREPLY < <(compgen -W "plan run status submit merge" -- "$cur")
    else
        compopt -o default
        COMPREPLY=()
    fi
}

_dlsim_names()
{
    dlsim list "$1" --json 2>/dev/null | grep -o '^[[ ]{"name": "[^"]*"' | cut -d'"' -f4
}

complete -F _dlsim dlsim
