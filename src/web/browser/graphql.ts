import { read, Refusal } from './api.ts'
import { address } from './here.ts'

interface Answer<T> {
  readonly data?: T
  readonly errors?: readonly { readonly message: string }[]
}

/** What a query finds, as whoever is signed in: much of what the API tells, in one answer. Throws a Refusal. */
export async function ask<T>(query: string, variables: Readonly<Record<string, string | null>>): Promise<T> {
  const { data, errors = [] } = await read<Answer<T>>(address`/api/graphql`, {
    query,
    variables: JSON.stringify(variables),
  })
  if (data === undefined || errors.length > 0) {
    throw new Refusal(200, errors.map(({ message }) => message).join('. '))
  }
  return data
}
