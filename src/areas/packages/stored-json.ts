import { isUnfit } from '../../kernel/endpoint/json-body.ts'
import { badRequest } from '../../kernel/errors/index.ts'

/** What a package says of itself as the database takes it; 400 for text that it cannot hold, and for what holds itself. */
export function storedJson(value: object): string {
  try {
    return JSON.stringify(value, (key, one: unknown) => {
      if (isUnfit(key) || (typeof one === 'string' && isUnfit(one))) throw new TypeError('unfit text')
      return one
    })
  } catch {
    throw badRequest('What the package says of itself cannot be kept')
  }
}
