/** A table in Markdown. Bars and line breaks in cells would end them. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n')
}

export function page(title: string, ...blocks: readonly string[]): string {
  return `${[`# ${title}`, ...blocks].join('\n\n')}\n`
}
