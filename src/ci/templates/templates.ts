import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const suffix = '.gitlab-ci.yml'
const folder = import.meta.dirname

/** Names of the configurations that come with the service, without their ending. */
export function templateNames(): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(suffix))
  return files.map((file) => file.slice(0, -suffix.length)).sort()
}

/** The text of one, by its name with or without the ending; null when there is none. */
export function readTemplate(name: string): string | null {
  const plain = name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
  return templateNames().includes(plain) ? readFileSync(path.join(folder, plain + suffix), 'utf8') : null
}
