/** What a path may look like (supporting resources, 4.5); each function gives the faults of a new or changed one. */

/** Last parts of addresses below a group or project that the service itself uses. */
export const reservedInside: ReadonlySet<string> = new Set(
  '- badges blame blob builds commits create create_dir edit files find_file new preview raw refs tree update wikis'.split(
    ' ',
  ),
)

const registrySafe = /^[a-zA-Z0-9]+(?:[._-][a-zA-Z0-9]+)*$/
const groupShape = /^[a-zA-Z0-9_.](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9_-])?$/
const projectShape = /^[a-zA-Z0-9_.][a-zA-Z0-9_.-]*$/
const badEnd = /\.(?:git|atom)$/i

const safeText =
  "can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'."
const groupText =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."
const projectText =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'"

/** `reserved`: in lower case; those of the top level, or for a subgroup `reservedInside`. */
export function groupPathFaults(path: string, reserved: ReadonlySet<string>): string[] {
  if (path === '') return ["can't be blank"]
  const faults: string[] = []
  if (path.length < 2) faults.push('is too short (minimum is 2 characters)')
  if (path.length > 255) faults.push('is too long (maximum is 255 characters)')
  if (!groupShape.test(path) || badEnd.test(path)) faults.push(groupText)
  else if (!registrySafe.test(path)) faults.push(safeText)
  if (reserved.has(path.toLowerCase())) faults.push(`${path} is a reserved name`)
  return faults
}

export function projectPathFaults(path: string): string[] {
  if (path === '') return ["can't be blank"]
  const faults: string[] = []
  if (path.length > 255) faults.push('is too long (maximum is 255 characters)')
  if (!projectShape.test(path) || badEnd.test(path)) faults.push(projectText)
  else if (!registrySafe.test(path)) faults.push(safeText)
  if (reservedInside.has(path.toLowerCase())) faults.push(`${path} is a reserved name`)
  return faults
}

/** The path that a name suggests: letters and digits without accents, all else a dash. */
export function slug(name: string): string {
  return name
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/([._-])[._-]+/g, '$1')
    .replace(/^[._-]+|[._-]+$/g, '')
    .replace(/(?:\.git|\.atom)+$/, '')
}

const letter = String.raw`[\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{RI}\p{EMod}_]`
const groupName = new RegExp(String.raw`^${letter}(?:${letter}|[.\- ()\p{Join_C}\p{VS}])*$`, 'u')
const projectName = new RegExp(String.raw`^${letter}(?:${letter}|[.+\- \u2013\u2014\p{Join_C}\p{VS}])*$`, 'u')
const tooLong = 'is too long (maximum is 255 characters)'

export function groupNameFaults(name: string): string[] {
  if (name === '') return ["can't be blank"]
  const faults = name.length > 255 ? [tooLong] : []
  if (!groupName.test(name)) {
    faults.push(
      "can contain only letters, digits, emoji, '_', '.', dash, space, parenthesis. It must start with letter, digit, emoji or '_'.",
    )
  }
  return faults
}

export function projectNameFaults(name: string): string[] {
  if (name === '') return ["can't be blank"]
  const faults = name.length > 255 ? [tooLong] : []
  if (!projectName.test(name)) {
    faults.push(
      "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'.",
    )
  }
  return faults
}
