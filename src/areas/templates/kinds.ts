import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readTemplate, templateNames } from '../../ci/index.ts'
import { licenseNames, readLicense } from './licenses.ts'

/** A kind of files that are begun from templates. */
export interface Kind {
  /** As addresses name it. */
  readonly type: 'dockerfiles' | 'gitignores' | 'gitlab_ci_ymls' | 'licenses'
  /** What is said when one is not there: `404 gitignore Not Found`. */
  readonly singular: string
  /** Where a project that is a source of templates keeps its own, and how their names end. */
  readonly folder: string
  readonly ending: string
  /** Those that come with the service, by key. */
  readonly shipped: () => readonly Named[]
  /** Undefined: none of them has this key. */
  readonly read: (key: string) => string | undefined
}

export interface Named {
  readonly key: string
  readonly name: string
}

const byName = (name: string): Named => ({ key: name, name })

/** Templates in a folder of files. */
function files(folder: string, ending: string): Pick<Kind, 'shipped' | 'read'> {
  const place = path.join(import.meta.dirname, 'shipped', folder)
  let names: string[] | undefined
  const list = (): string[] =>
    (names ??= readdirSync(place)
      .map((file) => file.slice(0, -ending.length))
      .sort())
  return {
    shipped: () => list().map(byName),
    read: (key) => (list().includes(key) ? readFileSync(path.join(place, key + ending), 'utf8') : undefined),
  }
}

export const kinds: readonly Kind[] = [
  {
    type: 'dockerfiles',
    singular: 'dockerfile',
    folder: 'Dockerfile',
    ending: '.dockerfile',
    ...files('dockerfiles', '.Dockerfile'),
  },
  {
    type: 'gitignores',
    singular: 'gitignore',
    folder: 'gitignore',
    ending: '.gitignore',
    ...files('gitignores', '.gitignore'),
  },
  {
    type: 'gitlab_ci_ymls',
    singular: 'gitlab_ci_yml',
    folder: 'gitlab-ci',
    ending: '.yml',
    shipped: () => templateNames().map(byName),
    read: (key) => readTemplate(key) ?? undefined,
  },
  {
    type: 'licenses',
    singular: 'License',
    folder: 'LICENSE',
    ending: '.txt',
    shipped: licenseNames,
    read: readLicense,
  },
]
