export { refusalOf, type OutboundRules, type Target } from './address-rules.ts'
export { Outbound, type GetOptions, type Got, type HostAndPort } from './outbound.ts'
