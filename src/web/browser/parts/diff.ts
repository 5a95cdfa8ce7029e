import { tags } from '../dom.ts'
import type { FileDiff } from '../entities.ts'

const { details, div, span, summary, table, tbody, td, tr } = tags

interface DiffLine {
  readonly kind: 'hunk' | 'same' | 'added' | 'removed' | 'remark'
  readonly old: number | undefined
  readonly new: number | undefined
  readonly text: string
}

/** The lines of a diff of one file, each with its numbers before and after. `diff`: unified, from its first hunk on. */
function diffLines(diff: string): DiffLine[] {
  const lines: DiffLine[] = []
  let [before, after] = [0, 0]
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
    const text = line.slice(1)
    if (hunk !== null) {
      ;[before, after] = [Number(hunk[1]), Number(hunk[2])]
      lines.push({ kind: 'hunk', old: undefined, new: undefined, text: line })
    } else if (line.startsWith('+')) lines.push({ kind: 'added', old: undefined, new: after++, text })
    else if (line.startsWith('-')) lines.push({ kind: 'removed', old: before++, new: undefined, text })
    else if (line.startsWith('\\'))
      lines.push({ kind: 'remark', old: undefined, new: undefined, text: text.trim() })
    else if (line !== '') lines.push({ kind: 'same', old: before++, new: after++, text })
  }
  return lines
}

/** What changed in some files. */
export function diffView(files: readonly FileDiff[]): HTMLElement {
  return div({ className: 'diffs' }, files.map(fileDiff))
}

function fileDiff(file: FileDiff): HTMLElement {
  const lines = file.diff === '' ? [] : diffLines(file.diff)
  const count = (wanted: DiffLine['kind']): number => lines.filter(({ kind }) => kind === wanted).length
  return details(
    { open: file.collapsed !== true },
    summary(
      span({ className: 'name' }, nameOf(file)),
      span({ className: 'added' }, `+${count('added')}`),
      ' ',
      span({ className: 'removed' }, `−${count('removed')}`),
    ),
    lines.length === 0
      ? div({ className: 'soft' }, file.too_large === true ? 'Too large to show.' : 'No lines to show.')
      : table(
          { className: 'diff' },
          tbody(
            lines.map((line) =>
              tr(
                { className: line.kind },
                td({ className: 'number' }, line.old),
                td({ className: 'number' }, line.new),
                td({ className: 'text' }, line.text),
              ),
            ),
          ),
        ),
  )
}

function nameOf({ old_path, new_path, new_file, deleted_file, renamed_file }: FileDiff): string {
  if (new_file) return `${new_path} (new)`
  if (deleted_file) return `${old_path} (deleted)`
  return renamed_file ? `${old_path} → ${new_path}` : new_path
}
