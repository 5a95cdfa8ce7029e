import { BlockList, isIP } from 'node:net'
import { offers, type Plan } from '../kernel/config/index.ts'
import { LruMap } from '../kernel/lib/lru.ts'
import { entriesOf, type SettingValues } from '../settings/index.ts'
import { isAdministrator, type Actor } from './actor.ts'
import { Role } from './levels.ts'
import type { GroupSubject, ProjectSubject } from './subjects.ts'

/** What the instance says of the addresses that groups are reached from. */
export interface AddressHouse {
  readonly values: Pick<SettingValues, 'globally_allowed_ips'>
  readonly plan: Plan
}

/**
 * Whether a group, or a project, is shown to who comes from this address: its top-level group may name those that it
 * is shown to, and the instance some that are shown all. Owners get to their group from anywhere, to name others.
 */
export function isShownTo(
  subject: GroupSubject | ProjectSubject,
  actor: Actor | undefined,
  address: string,
  { values, plan }: AddressHouse,
): boolean {
  const { admittedAddresses: own } = subject
  if (own === null || own === '' || !offers(plan, 'admitted_addresses')) return true
  if (actor !== undefined && isAdministrator(actor)) return true
  if (subject.kind === 'group' && subject.role >= Role.owner) return true
  return includes(own, address) || includes(values.globally_allowed_ips, address)
}

const lists = new LruMap<string, BlockList>(200)

/** Whether an address is one of those in a text, or in one of its ranges. */
function includes(text: string, address: string): boolean {
  let list = lists.get(text)
  if (list === undefined) {
    list = listOf(text)
    lists.set(text, list)
  }
  return list.check(address, familyOf(address))
}

function listOf(text: string): BlockList {
  const list = new BlockList()
  for (const entry of entriesOf(text)) {
    const [address = '', bits] = entry.split('/')
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
