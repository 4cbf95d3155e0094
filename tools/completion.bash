# SPDX-License-Identifier: Apache-2.0
# bash completion for gpuprim
_gpuprim() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' i words
    # bash parts words at = too: the option is then two words back.
    [ "$before" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$word" = = ] && before=${COMP_WORDS[COMP_CWORD - 1]} word=
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        info | kernels | explain | bench | sum | reduce | window | transpose | rearrange)
            command=${COMP_WORDS[i]}
            break
            ;;
        esac
    done
    COMPREPLY=()
    case $before in
    --format) words="text json csv" ;;
    --backend) words="auto cpu cuda" ;;
    --border) words="none zero replicate reflect reflect_101 wrap" ;;
    --op)
        words="sum min max and or xor"
        [ "$command" != reduce ] ||
            words+=" argmin argmax count mean std var std_sample var_sample norm sum_abs sum_squares max_abs"
        ;;
    --axis) words="all 0 1 2 -1" ;;
    --type) words="u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64" ;;
    --values) words="sum mean" ;;
    --kernel) words=$(gpuprim kernels --format csv 2>/dev/null | sed '1d; s/,.*//') ;;
    --device | -d)
        words=$(gpuprim explain --devices --format csv 2>/dev/null | sed '1d; s/,.*//')
        mapfile -t COMPREPLY < <(compgen -W "$words" -f -- "$word")
        return
        ;;
    --plot | --from | --output | -o)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    *)
        case $command in
        '') words="info kernels explain bench sum reduce window transpose rearrange --help --version" ;;
        info | kernels) words="--format --help --version" ;;
        explain)
            words="reduce window rearrange transpose block --device --devices --smem --regs --kernel"
            words+=" --op --border --shape --window --type --axis --axes --format"
            ;;
        bench)
            words="reduce reduce_array window boxes transpose rearrange ladder all"
            words+=" --quick --rounds --n --shape --window --elem --threads --plot --from --format"
            ;;
        sum) words="--op --text --binary --backend --memory --format --verbose" ;;
        reduce) words="--op --axis --type --skip-nan --shape --elem --backend --memory --format --verbose" ;;
        window) words="--window --size --op --border --values --shape --elem --backend --memory --verbose" ;;
        transpose) words="--shape --elem --backend --memory --verbose" ;;
        rearrange) words="--axes --flip --crop --output --shape --elem --backend --memory --verbose" ;;
        esac
        ;;
    esac
    case $command:$word in
    sum:-* | reduce:-* | window:-* | transpose:-* | rearrange:-*) ;;
    sum:* | reduce:* | window:* | transpose:* | rearrange:*)
        [ "$words" = "${words#--}" ] || {
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
        }
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o filenames -F _gpuprim gpuprim
