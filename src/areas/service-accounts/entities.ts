import { Fields, Id, Optional, Text } from '../../kernel/endpoint/index.ts'

export const ServiceAccount = Fields({
  id: Id(),
  username: Text(),
  name: Text(),
  email: Text(),
  unconfirmed_email: Optional(Text({ description: 'The address, while nobody has confirmed it' })),
})

export interface ServiceAccountRow {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly confirmed: boolean
}

export function serviceAccount({ confirmed, ...row }: ServiceAccountRow): Record<string, unknown> {
  return confirmed ? row : { ...row, unconfirmed_email: row.email }
}
