import { visibleRefs } from './advertise.ts'
import { pktLine } from './pkt-line.ts'
import type { RefSnapshot } from './ref-cache.ts'

/** The arguments of `ls-refs` (gitprotocol-v2(5)). */
export interface LsRefs {
  readonly peel: boolean
  readonly symrefs: boolean
  readonly unborn: boolean
  readonly prefixes: readonly string[]
}

/** More prefixes than this count as none, as with git: then all refs are listed. */
const maxPrefixes = 65_536

/** `undefined` for an argument that is not known; git then says what is wrong. */
export function parseLsRefs(lines: readonly string[]): LsRefs | undefined {
  const prefixes: string[] = []
  const flags = new Set<string>()
  for (const line of lines) {
    if (line.startsWith('ref-prefix ')) prefixes.push(line.slice('ref-prefix '.length))
    else if (line === 'peel' || line === 'symrefs' || line === 'unborn') flags.add(line)
    else return undefined
  }
  return {
    peel: flags.has('peel'),
    symrefs: flags.has('symrefs'),
    unborn: flags.has('unborn'),
    prefixes: prefixes.length > maxPrefixes ? [] : prefixes,
  }
}

/** The answer, as `git upload-pack` would write it. */
export function answerLsRefs(refs: RefSnapshot, asked: LsRefs): Buffer {
  return refs.written(`ls-refs ${JSON.stringify(asked)}`, () => Buffer.from(lines(refs, asked).join('')))
}

function lines(refs: RefSnapshot, { peel, symrefs, unborn, prefixes }: LsRefs): string[] {
  const wanted = (name: string) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix))
  const result: string[] = []
  const symref = symrefs && refs.defaultRef !== undefined ? ` symref-target:${refs.defaultRef}` : ''
  if (wanted('HEAD')) {
    if (refs.headOid !== undefined) result.push(pktLine(`${refs.headOid} HEAD${symref}\n`))
    else if (unborn && symref !== '') result.push(pktLine(`unborn HEAD${symref}\n`))
  }
  for (const { name, oid, peeled } of visibleRefs(refs)) {
    if (!wanted(name)) continue
    result.push(pktLine(`${oid} ${name}${peel && peeled !== undefined ? ` peeled:${peeled}` : ''}\n`))
  }
  return [...result, '0000']
}
