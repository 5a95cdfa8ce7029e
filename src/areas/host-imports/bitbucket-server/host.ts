import type { SourceProject } from '../begin.ts'
import { HostClient } from '../client.ts'
import type { GitPlace } from '../code.ts'
import { credentialsOf } from '../credentials.ts'
import { HostFault } from '../faults.ts'
import { basic, type Credentials } from '../hosts.ts'
import type { HostImportRoom } from '../services.ts'
import { prose, type Raw } from '../shapes.ts'
import type { Step } from '../step-store.ts'
import { recordReader, RecordFault } from '../../project-archives/index.ts'

const { objectOf, text } = recordReader

export function clientOf(
  { outbound }: Pick<HostImportRoom, 'outbound'>,
  address: string,
  credentials: Credentials,
  signal: AbortSignal,
): HostClient {
  const headers = { accept: 'application/json', authorization: basic(credentials) }
  return new HostClient(outbound, { base: `${address}/rest/api/1.0`, headers }, signal)
}

/** Key of a project, one of a person among them, and name of a repository. */
export const projectForm = /^~?[\w.-]{1,128}$/
export const repositoryForm = /^(?!\.{1,2}$)[\w.-]{1,128}$/

/** `key/name` as the API has it. */
export function pathOf(fullName: string): string {
  const [key = '', name = ''] = fullName.split('/')
  return `/projects/${encodeURIComponent(key)}/repos/${encodeURIComponent(name)}`
}

/** Where the repository is cloned from: never what an answer says, which may be anywhere. */
export function gitPlaceOf(room: HostImportRoom, step: Step): GitPlace {
  return {
    url: `${step.address!}/scm/${step.fullName.toLowerCase()}.git`,
    credentials: credentialsOf(room, step),
  }
}

/** The full name of a repository in an answer. */
export function fullNameOf(raw: Raw): string {
  return `${text(objectOf(raw['project']), 'key', 129)}/${text(raw, 'slug', 128)}`
}

export async function repositoryOf(client: HostClient, fullName: string): Promise<SourceProject> {
  const { value } = await client.get(pathOf(fullName))
  try {
    const raw = objectOf(value)
    return {
      fullName,
      name: text(raw, 'name', 128),
      description: prose(raw, 'description')?.slice(0, 2000) ?? null,
      open: raw['public'] === true,
      defaultBranch: null,
      wiki: false,
      kibibytes: 0,
    }
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error
    throw new HostFault(`The host does not describe the repository: ${error.message}`)
  }
}
