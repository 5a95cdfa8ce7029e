import { recordReader, RecordFault } from '../../project-archives/index.ts'
import type { SourceProject } from '../begin.ts'
import { HostClient } from '../client.ts'
import type { GitPlace } from '../code.ts'
import { credentialsOf } from '../credentials.ts'
import { HostFault } from '../faults.ts'
import { basic, type Credentials, type PublicHosts } from '../hosts.ts'
import type { HostImportRoom } from '../services.ts'
import { prose } from '../shapes.ts'
import type { Step } from '../step-store.ts'

const { objectOf, text, textOrNull } = recordReader

/** Of the API the one, of git the other. */
function addressesOf({ bitbucket }: PublicHosts): { readonly api: string; readonly web: string } {
  return bitbucket === undefined
    ? { api: 'https://api.bitbucket.org/2.0', web: 'https://bitbucket.org' }
    : { api: `${bitbucket}/2.0`, web: bitbucket }
}

export function clientOf(
  { outbound, importHosts }: Pick<HostImportRoom, 'outbound' | 'importHosts'>,
  credentials: Credentials,
  signal: AbortSignal,
): HostClient {
  const headers = { accept: 'application/json', authorization: basic(credentials) }
  return new HostClient(outbound, { base: addressesOf(importHosts).api, headers }, signal)
}

export const pathForm = /^(?!\.{1,2}\/)[\w.-]{1,100}\/(?!\.{1,2}$)[\w.-]{1,100}$/

/** Where the repository, or its wiki, is cloned from. */
export function gitPlaceOf(room: HostImportRoom, step: Step, what: 'code' | 'wiki'): GitPlace {
  const { web } = addressesOf(room.importHosts)
  const suffix = what === 'wiki' ? '/wiki' : ''
  return { url: `${web}/${step.fullName}.git${suffix}`, credentials: credentialsOf(room, step) }
}

export interface CloudProject extends SourceProject {
  readonly issues: boolean
}

export async function repositoryOf(client: HostClient, path: string): Promise<CloudProject> {
  const { value } = await client.get(`/repositories/${path}`)
  try {
    const raw = objectOf(value)
    const branch = raw['mainbranch']
    const { size } = raw
    return {
      fullName: path,
      name: text(raw, 'name', 255),
      description: prose(raw, 'description')?.slice(0, 2000) ?? null,
      open: raw['is_private'] === false,
      defaultBranch:
        branch === null || branch === undefined ? null : textOrNull(objectOf(branch), 'name', 255),
      wiki: raw['has_wiki'] === true,
      issues: raw['has_issues'] === true,
      kibibytes: Number.isSafeInteger(size) ? Math.ceil((size as number) / 1024) : 0,
    }
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error
    throw new HostFault(`The host does not describe the repository: ${error.message}`)
  }
}
