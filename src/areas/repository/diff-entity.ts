import type { DiffLimits, FileDiff } from '../../git/index.ts'
import { Fields, Flag, Text } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'

export const Diff = Fields({
  diff: Text(),
  collapsed: Flag(),
  too_large: Flag({ description: 'The patch is larger than the instance shows, and left out' }),
  new_path: Text(),
  old_path: Text(),
  a_mode: Text(),
  b_mode: Text(),
  new_file: Flag(),
  renamed_file: Flag(),
  deleted_file: Flag(),
  generated_file: Flag(),
})

/** How much of a diff is shown, as the administrator has set it. */
export function diffLimits({ values }: Settings): DiffLimits {
  return {
    files: values.diff_max_files,
    patchBytes: values.diff_max_patch_bytes,
    lines: values.diff_max_lines,
  }
}

/** `unidiff`: the two lines with the names before the patch, as other tools want them. */
export function diffEntity(file: FileDiff, { unidiff = false } = {}): Record<string, unknown> {
  const { status, oldPath, path, patch } = file
  const names =
    unidiff && patch.startsWith('@@')
      ? `--- ${status === 'added' ? '/dev/null' : `a/${oldPath}`}\n+++ ${status === 'deleted' ? '/dev/null' : `b/${path}`}\n`
      : ''
  return {
    diff: names + patch,
    collapsed: false,
    too_large: file.tooLarge,
    new_path: path,
    old_path: oldPath,
    a_mode: modeText(file.oldMode),
    b_mode: modeText(file.newMode),
    new_file: status === 'added',
    renamed_file: status === 'renamed',
    deleted_file: status === 'deleted',
    generated_file: false,
  }
}

/** No file has the mode `0`. */
function modeText(mode: string): string {
  return mode === '000000' ? '0' : mode
}
