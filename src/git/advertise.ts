import { internalPrefixes, unseenPrefixes } from './commands.ts'
import { zeroOid } from './parse.ts'
import { flushPkt, pkt, pktLine } from './pkt-line.ts'
import type { Ref, RefSnapshot } from './ref-cache.ts'
import type { Workplace } from './run.ts'

export type Service = 'git-upload-pack' | 'git-receive-pack'
export type ProtocolVersion = 0 | 1 | 2

/** From the header `Git-Protocol` (or `GIT_PROTOCOL` over SSH), which lists parts with colons between: `version=2`. */
export function parseProtocol(text: string | undefined): ProtocolVersion {
  const versions = (text ?? '').split(':').map((part) => /^version=(\d+)$/.exec(part)?.[1])
  // Like git: the highest that is known wins.
  return versions.includes('2') ? 2 : versions.includes('1') ? 1 : 0
}

export interface AdvertiseOptions {
  readonly refs: RefSnapshot
  readonly version: ProtocolVersion
  /** Over HTTP a line naming the service comes first, and a request holds one command only. */
  readonly http: boolean
}

/** What a server says first: its refs and what it can do. The same bytes that git itself would give. */
export function advertiseRefs(
  repository: Pick<Workplace, 'program'>,
  service: Service,
  { refs, version, http }: AdvertiseOptions,
): Buffer {
  const gitVersion = repository.program.version
  return refs.written(`${service} ${version} ${http}`, () =>
    version === 2 && service === 'git-upload-pack'
      ? Buffer.concat(capabilitiesV2(gitVersion))
      : advertisement(refs, service, version, http, gitVersion),
  )
}

function advertisement(
  refs: RefSnapshot,
  service: Service,
  version: ProtocolVersion,
  http: boolean,
  gitVersion: string,
): Buffer {
  const lines: string[] = []
  // Pushing over protocol 2 does not exist: git answers with version 0, yet leaves out the service line.
  if (http && version !== 2) lines.push(pktLine(`# service=${service}\n`), '0000')
  if (version === 1) lines.push(pktLine('version 1\n'))
  const names = service === 'git-upload-pack' ? fetchLines(refs) : pushLines(refs)
  const capabilities =
    service === 'git-upload-pack' ? fetchCapabilities(refs, http, gitVersion) : pushCapabilities(gitVersion)
  if (names.length === 0) names.push(`${zeroOid} capabilities^{}`)
  names.forEach((line, index) =>
    lines.push(pktLine(index === 0 ? `${line}\0${capabilities}\n` : `${line}\n`)),
  )
  lines.push('0000')
  return Buffer.from(lines.join(''))
}

/** Refs that a fetch may see. */
export function visibleRefs(refs: RefSnapshot): Ref[] {
  return refs.refs.filter(({ name }) => !unseenPrefixes.some((prefix) => name.startsWith(prefix)))
}

function fetchLines(refs: RefSnapshot): string[] {
  const lines = visibleRefs(refs).flatMap(({ name, oid, peeled }) =>
    peeled === undefined ? [`${oid} ${name}`] : [`${oid} ${name}`, `${peeled} ${name}^{}`],
  )
  if (refs.headOid !== undefined) lines.unshift(`${refs.headOid} HEAD`)
  return lines
}

function pushLines(refs: RefSnapshot): string[] {
  return refs.refs
    .filter(({ name }) => !internalPrefixes.some((prefix) => name.startsWith(prefix)))
    .map(({ name, oid }) => `${oid} ${name}`)
}

/** The order and the words of git 2.39, which any newer git understands too. */
function fetchCapabilities(refs: RefSnapshot, http: boolean, gitVersion: string): string {
  const { headOid, defaultRef } = refs
  return [
    'multi_ack thin-pack side-band side-band-64k ofs-delta shallow deepen-since deepen-not deepen-relative',
    'no-progress include-tag multi_ack_detailed allow-tip-sha1-in-want allow-reachable-sha1-in-want',
    ...(http ? ['no-done'] : []),
    ...(headOid !== undefined && defaultRef !== undefined ? [`symref=HEAD:${defaultRef}`] : []),
    `filter object-format=sha1 agent=git/${gitVersion}`,
  ].join(' ')
}

function pushCapabilities(gitVersion: string): string {
  return `report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options object-format=sha1 agent=git/${gitVersion}`
}

function capabilitiesV2(gitVersion: string): Buffer[] {
  const lines = [
    'version 2',
    `agent=git/${gitVersion}`,
    'ls-refs=unborn',
    'fetch=shallow wait-for-done filter',
    'server-option',
    'object-format=sha1',
    'object-info',
  ]
  return [...lines.map((line) => pkt(`${line}\n`)), flushPkt]
}
