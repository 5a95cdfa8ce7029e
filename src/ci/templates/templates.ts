import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const suffix = '.gitlab-ci.yml'
/** Whose templates go by their own name, too, and are listed by it. Those of other folders are for including only. */
const listedFolders = ['.', 'Pages']

interface Templates {
  readonly names: readonly string[]
  readonly texts: ReadonlyMap<string, string>
}

let templates: Templates | undefined

/** Names of the configurations that come with the service to begin one from, without their ending. */
export function templateNames(): readonly string[] {
  return all().names
}

/**
 * The text of one, by its name or its path (`Hugo`, `Pages/Hugo`), with or without the ending; null when there is none.
 * Those are looked up among what was read, so that no name leads anywhere else.
 */
export function readTemplate(name: string): string | null {
  const key = name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
  return all().texts.get(key) ?? null
}

function all(): Templates {
  return (templates ??= readAll(import.meta.dirname))
}

function readAll(folder: string): Templates {
  const names: string[] = []
  const texts = new Map<string, string>()
  for (const within of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!within.endsWith(suffix)) continue
    const text = readFileSync(path.join(folder, within), 'utf8')
    const { dir, base } = path.posix.parse(within.replaceAll(path.sep, '/'))
    const name = base.slice(0, -suffix.length)
    texts.set(path.posix.join(dir, name), text)
    if (!listedFolders.includes(dir || '.')) continue
    names.push(name)
    texts.set(name, text)
  }
  return { names: names.sort(), texts }
}
