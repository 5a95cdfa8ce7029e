import { expect, test } from 'vitest'
import { list } from './list.ts'

const page = { page: 1, perPage: 20, offset: 0, limit: 20 }
const filters = { 'of a ref': { ref: 'main' }, 'of a status': { status: 'failed' } }

test.each(Object.entries(filters))(
  'a list %s that is taken for long is remembered no longer than that is believed',
  (_, filter) => {
    const asked = { order_by: 'id', sort: 'desc', ...filter } as const
    expect(list(asked, page, { longUntil: 7 }).print!().until).toBe(7)
    expect(list(asked, page).print!().until).toBeUndefined()
  },
)
