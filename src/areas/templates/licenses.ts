import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Named } from './kinds.ts'

/** What is said of a licence besides its text. */
export interface About {
  readonly name: string
  readonly nickname: string | null
  readonly popular: boolean
  readonly source: string
  readonly description: string
  readonly conditions: readonly string[]
  readonly permissions: readonly string[]
  readonly limitations: readonly string[]
}

const free = ['commercial-use', 'modifications', 'distribution', 'private-use']
const withPatents = [...free.slice(0, 3), 'patent-use', 'private-use']
const asItIs = ['liability', 'warranty']
const copyleft = ['include-copyright', 'document-changes', 'disclose-source', 'same-license']
const weakCopyleft = [...copyleft.slice(0, 3), 'same-license--library']

function about(
  name: string,
  source: string,
  description: string,
  [conditions, permissions, limitations]: readonly [readonly string[], readonly string[], readonly string[]],
  { nickname = null, popular = false }: { nickname?: string | null; popular?: boolean } = {},
): About {
  return { name, nickname, popular, source, description, conditions, permissions, limitations }
}

const licenses: Readonly<Record<string, About>> = {
  'agpl-3.0': about(
    'GNU Affero General Public License v3.0',
    'https://www.gnu.org/licenses/agpl-3.0.txt',
    'As the GPL of version 3; who lets others use a changed version over a network also gives them its source.',
    [[...copyleft.slice(0, 3), 'network-use-disclose', 'same-license'], withPatents, asItIs],
    { nickname: 'GNU AGPLv3' },
  ),
  'apache-2.0': about(
    'Apache License 2.0',
    'https://www.apache.org/licenses/LICENSE-2.0.txt',
    'Allows nearly everything as long as notices are kept and changes are told, and grants rights in patents.',
    [['include-copyright', 'document-changes'], withPatents, ['trademark-use', ...asItIs]],
    { popular: true },
  ),
  'bsd-2-clause': about(
    'BSD 2-Clause "Simplified" License',
    'https://opensource.org/license/bsd-2-clause',
    'Allows nearly everything as long as the notices are kept, in source and in programs.',
    [['include-copyright'], free, asItIs],
  ),
  'bsd-3-clause': about(
    'BSD 3-Clause "New" or "Revised" License',
    'https://opensource.org/license/bsd-3-clause',
    'As the one of two clauses; and nobody may advertise with the names of those who wrote it.',
    [['include-copyright'], free, asItIs],
  ),
  'bsl-1.0': about(
    'Boost Software License 1.0',
    'https://www.boost.org/LICENSE_1_0.txt',
    'Allows nearly everything; notices are kept in the source and need not go with programs.',
    [['include-copyright--source'], free, asItIs],
  ),
  'cc0-1.0': about(
    'Creative Commons Zero v1.0 Universal',
    'https://creativecommons.org/publicdomain/zero/1.0/legalcode.txt',
    'Gives up all copyright, as far as the law allows that. Fits data and texts.',
    [[], free, ['trademark-use', 'patent-use', ...asItIs]],
  ),
  'epl-2.0': about(
    'Eclipse Public License 2.0',
    'https://www.eclipse.org/legal/epl-2.0',
    'Changes to the work stay under this licence; what only uses it may have another one.',
    [['disclose-source', 'include-copyright', 'same-license'], withPatents, asItIs],
  ),
  'gpl-2.0': about(
    'GNU General Public License v2.0',
    'https://www.gnu.org/licenses/gpl-2.0.txt',
    'Who hands on the work, or what is made of it, gives the source under the same licence.',
    [copyleft, free, asItIs],
    { nickname: 'GNU GPLv2' },
  ),
  'gpl-3.0': about(
    'GNU General Public License v3.0',
    'https://www.gnu.org/licenses/gpl-3.0.txt',
    'Who hands on the work, or what is made of it, gives the source under the same licence, with rights in patents.',
    [copyleft, withPatents, asItIs],
    { nickname: 'GNU GPLv3', popular: true },
  ),
  'lgpl-2.1': about(
    'GNU Lesser General Public License v2.1',
    'https://www.gnu.org/licenses/lgpl-2.1.txt',
    'For libraries: changes to them stay under this licence; programs that use them may have another one.',
    [weakCopyleft, free, asItIs],
    { nickname: 'GNU LGPLv2.1' },
  ),
  'lgpl-3.0': about(
    'GNU Lesser General Public License v3.0',
    'https://www.gnu.org/licenses/lgpl-3.0.txt',
    'For libraries, with rights in patents: changes stay under this licence; programs that use them may have another.',
    [weakCopyleft, withPatents, asItIs],
    { nickname: 'GNU LGPLv3' },
  ),
  mit: about(
    'MIT License',
    'https://opensource.org/license/mit',
    'Short: allows nearly everything as long as the notices are kept.',
    [['include-copyright'], free, asItIs],
    { popular: true },
  ),
  'mpl-2.0': about(
    'Mozilla Public License 2.0',
    'https://www.mozilla.org/media/MPL/2.0/index.txt',
    'Files that were under it stay so when they are changed; other files of the same work may have another licence.',
    [
      ['disclose-source', 'include-copyright', 'same-license--file'],
      withPatents,
      ['trademark-use', ...asItIs],
    ],
  ),
  unlicense: about(
    'The Unlicense',
    'https://unlicense.org/UNLICENSE',
    'Gives the work to the public domain.',
    [[], free, asItIs],
  ),
}

export function licenseNames(): Named[] {
  return Object.entries(licenses).map(([key, { name }]) => ({ key, name }))
}

export function aboutLicense(key: string): About | undefined {
  return Object.hasOwn(licenses, key) ? licenses[key] : undefined
}

/** The text, from the list of SPDX (CC0); `[year]` and `[fullname]` stand for what each work fills in. */
export function readLicense(key: string): string | undefined {
  if (aboutLicense(key) === undefined) return undefined
  return readFileSync(path.join(import.meta.dirname, 'shipped/licenses', `${key}.txt`), 'utf8')
}

/** Fills in what is known; all else stays as it is, for its author to see. */
export function filledIn(
  text: string,
  { year, fullname, project }: { year: number; fullname?: string | undefined; project?: string | undefined },
): string {
  const values: Record<string, string | undefined> = { year: String(year), fullname, project }
  return text.replaceAll(/\[(year|fullname|project)\]/g, (whole, name: string) => values[name] ?? whole)
}
