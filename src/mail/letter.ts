/** A mail in words. */
export interface Letter {
  readonly paragraphs: readonly string[]
  /** Where to read on. */
  readonly link?: string
  /** Why the reader gets it: `You are assigned to this issue.` */
  readonly why?: string
  /** Where the reader says that he wants no more of the kind. */
  readonly unsubscribe?: string
}

/** The plain text of a mail; the foot stands below the line that mail programs know as the start of a signature. */
export function letter({ paragraphs, link, why, unsubscribe }: Letter): string {
  const body = [...paragraphs, ...(link === undefined ? [] : [link])]
  const foot = [
    ...(why === undefined ? [] : [why]),
    ...(unsubscribe === undefined ? [] : [`To hear no more of it: ${unsubscribe}`]),
  ]
  return body.join('\n\n') + (foot.length === 0 ? '' : `\n\n-- \n${foot.join('\n')}`) + '\n'
}
