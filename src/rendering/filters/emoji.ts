import { gemoji } from 'gemoji'
import { replaceTexts, text, type Parent } from '../tree.ts'

let names: Map<string, string> | undefined

function find(name: string): string | undefined {
  names ??= new Map(gemoji.flatMap((entry) => entry.names.map((one) => [one, entry.emoji] as const)))
  return names.get(name)
}

/** `:tada:` becomes the character; what is no name stays. */
export function emoji(root: Parent): void {
  replaceTexts(root, (value) => {
    if (!value.includes(':')) return undefined
    const shown = value.replaceAll(/:([a-z0-9_+-]{1,50}):/g, (whole, name: string) => find(name) ?? whole)
    return shown === value ? undefined : [text(shown)]
  })
}
