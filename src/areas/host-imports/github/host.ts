import { recordReader, RecordFault } from '../../project-archives/index.ts'
import { HostClient } from '../client.ts'
import { HostFault } from '../faults.ts'
import { credentialsOf } from '../credentials.ts'
import type { PublicHosts } from '../hosts.ts'
import type { HostImportRoom } from '../services.ts'
import type { Step } from '../step-store.ts'
import type { GitPlace } from '../code.ts'
import type { SourceProject } from '../begin.ts'

const { objectOf, text, textOrNull, whole } = recordReader

const usual = 'https://github.com'
const usualApi = 'https://api.github.com'

/** Where the host is reached; `address`: of an installation of somebody's own, as it was asked for. */
function addressesOf(
  hosts: PublicHosts,
  address: string | null,
): { readonly api: string; readonly web: string } {
  const web = (address ?? hosts.github ?? usual).replace(/\/api\/v3$/, '')
  return { web, api: web === usual ? usualApi : `${web}/api/v3` }
}

export function clientOf(
  { outbound, importHosts }: Pick<HostImportRoom, 'outbound' | 'importHosts'>,
  address: string | null,
  token: string,
  signal: AbortSignal,
): HostClient {
  const headers = {
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    authorization: `Bearer ${token}`,
  }
  return new HostClient(outbound, { base: addressesOf(importHosts, address).api, headers }, signal)
}

/** Where the repository, or its wiki, is cloned from: never what an answer says, which may be anywhere. */
export function gitPlaceOf(room: HostImportRoom, step: Step, suffix: '' | '.wiki'): GitPlace {
  const { web } = addressesOf(room.importHosts, step.address)
  return {
    url: `${web}/${step.fullName}${suffix}.git`,
    credentials: { secret: credentialsOf(room, step).secret },
  }
}

const fullNameForm = /^(?!\.{1,2}\/)[\w.-]{1,100}\/(?!\.{1,2}$)[\w.-]{1,100}$/

/** The repository that has this number there. */
export async function repositoryOf(client: HostClient, id: number): Promise<SourceProject> {
  const { value } = await client.get(`/repositories/${id}`)
  try {
    const raw = objectOf(value)
    const fullName = text(raw, 'full_name', 201)
    if (!fullNameForm.test(fullName)) throw new RecordFault('full_name is none')
    return {
      fullName,
      name: text(raw, 'name', 100),
      description: textOrNull(raw, 'description', 2000),
      open: raw['private'] === false,
      defaultBranch: textOrNull(raw, 'default_branch', 255),
      wiki: raw['has_wiki'] === true,
      kibibytes: raw['size'] === undefined ? 0 : whole(raw, 'size', 0),
    }
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error
    throw new HostFault(`The host does not describe the repository: ${error.message}`)
  }
}
