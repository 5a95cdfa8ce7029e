import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Where requests of the service itself may go; the instance's settings say so. */
export interface OutboundRules {
  /** Also into the network that the service stands in. */
  readonly allowLocal: boolean
  /** Nowhere but to what `allowed` names. */
  readonly onlyAllowed: boolean
  /** Hosts, addresses, ranges (`10.1.0.0/16`), each of the first two with a port or without. */
  readonly allowed: readonly string[]
  /** Connections go to the very address that was checked, whatever its host is called by then. */
  readonly pinned: boolean
}

export interface Target {
  readonly host: string
  readonly port: number
  readonly address: string
}

/** Why nothing may be asked of this address, or undefined. */
export function refusalOf(target: Target, rules: OutboundRules): string | undefined {
  if (rules.allowed.some((entry) => names(entry, target))) return undefined
  if (rules.onlyAllowed) return 'Requests to hosts and IP addresses not on the Allow List are denied'
  if (rules.allowLocal) return undefined
  const family = familyOf(target.address)
  return [closedTo('localhost', ...ownAddresses()), ...closed].find(({ list }) =>
    list.check(target.address, family),
  )?.reason
}

/** Of this machine, as they are now: behind one that is public, too, there may be what only the machine is to reach. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map(({ address }) => address))
}

function names(entry: string, { host, port, address }: Target): boolean {
  const written = entry.trim().toLowerCase()
  const [range, bits] = written.split('/', 2)
  if (range !== undefined && bits !== undefined) return inRange(range, bits, address)
  if (same(written, host, address)) return true
  const colon = written.lastIndexOf(':')
  return (
    colon > 0 &&
    written.slice(colon + 1) === String(port) &&
    same(written.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), host, address)
  )
}

function same(written: string, host: string, address: string): boolean {
  return written !== '' && (written === host.toLowerCase() || written === address)
}

function inRange(range: string, bits: string, address: string): boolean {
  const version = isIP(range)
  const length = Number(bits)
  if (version === 0 || !/^\d+$/.test(bits) || length > (version === 6 ? 128 : 32)) return false
  const list = new BlockList()
  list.addSubnet(range, length, familyOf(range))
  return list.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

interface Closed {
  readonly reason: string
  readonly list: BlockList
}

/** Addresses, and ranges of them. */
function closedTo(what: string, ...ranges: string[]): Closed {
  const list = new BlockList()
  for (const range of ranges) {
    const [network, bits] = range.split('/') as [string, string | undefined]
    if (bits === undefined) list.addAddress(network, familyOf(network))
    else list.addSubnet(network, Number(bits), familyOf(network))
  }
  return { reason: `Requests to ${what} are not allowed`, list }
}

// A check of an IPv4 address that is written as an IPv6 one (::ffff:a.b.c.d) looks into the IPv4 ranges by itself.
const closed: readonly Closed[] = [
  closedTo('localhost', '0.0.0.0/8', '127.0.0.1', '::', '::1'),
  closedTo('loopback addresses', '127.0.0.0/8'),
  closedTo('the link local network', '169.254.0.0/16', 'fe80::/10'),
  closedTo('the shared address space', '100.64.0.0/10'),
  closedTo('the limited broadcast address', '255.255.255.255'),
  closedTo('multicast addresses', '224.0.0.0/4', 'ff00::/8'),
  closedTo(
    'the local network',
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '192.0.0.0/24',
    '198.18.0.0/15',
    '240.0.0.0/4',
    'fc00::/7',
    'fec0::/10',
    // Ways to write an IPv4 address that the ranges above would not see.
    '64:ff9b::/96',
    '2002::/16',
    '::/96',
  ),
]
