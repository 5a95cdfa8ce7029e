import { visibleRefs } from './advertise.ts'
import { flushPkt, pkt } from './pkt-line.ts'
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
  const wanted = (name: string) =>
    asked.prefixes.length === 0 || asked.prefixes.some((prefix) => name.startsWith(prefix))
  const lines: Buffer[] = []
  const symref = asked.symrefs && refs.defaultRef !== undefined ? ` symref-target:${refs.defaultRef}` : ''
  if (wanted('HEAD')) {
    if (refs.headOid !== undefined) lines.push(pkt(`${refs.headOid} HEAD${symref}\n`))
    else if (asked.unborn && symref !== '') lines.push(pkt(`unborn HEAD${symref}\n`))
  }
  for (const { name, oid, peeled } of visibleRefs(refs)) {
    if (!wanted(name)) continue
    lines.push(pkt(`${oid} ${name}${asked.peel && peeled !== undefined ? ` peeled:${peeled}` : ''}\n`))
  }
  lines.push(flushPkt)
  return Buffer.concat(lines)
}
