# bash completion for sayso.
#
# Load it with: source <(sayso completions bash)
# or put this file where bash-completion looks: ~/.local/share/bash-completion/completions/sayso
# Needs no other package; works in bash 3.2 and later.

_sayso() {
    local rest=${COMP_LINE:0:COMP_POINT} piece blanks line value i
    local -a words
    words=()
    COMPREPLY=()

    # bash splits words at colons and equals signs; what no blank separates is one word again here.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        blanks=${rest%%[![:space:]]*}
        rest=${rest#"$blanks"}
        ((i < COMP_CWORD)) || piece=$rest
        if ((i == 0)) || [[ -n $blanks ]]; then
            words+=("$piece")
        else
            words[${#words[@]} - 1]+=$piece
        fi
        rest=${rest#"$piece"}
    done

    local last=$((${#words[@]} - 1))
    local word=${words[last]} quote= kept=
    if [[ $word == [\"\']* ]]; then
        quote=${word:0:1}
        word=${word:1}
    else
        word=${word//\\/}
        # bash replaces only what follows the last sign that it splits at.
        for ((i = ${#word} - 1; i >= 0; i--)); do
            if [[ ${word:i:1} == [:=] && $COMP_WORDBREAKS == *"${word:i:1}"* ]]; then
                kept=${word:0:i+1}
                break
            fi
        done
    fi

    while IFS= read -r line; do
        value=${line%%$'\t'*}
        if [[ -z $value ]]; then
            compopt -o filenames 2>/dev/null
            local kind=-f path=$word
            [[ ${line#$'\t'} == directories ]] && kind=-d
            [[ $word == --*=* ]] && path=${word#*=}
            while IFS= read -r value; do
                COMPREPLY+=("$value")
            done < <(compgen "$kind" -- "$path")
        else
            value=${value#"$kept"}
            [[ -n $quote ]] || printf -v value %q "$value"
            COMPREPLY+=("$value")
        fi
    done < <(command sayso __complete "--word=$word" -- "${words[@]:1:last-1}" 2>/dev/null)
}

complete -F _sayso sayso
