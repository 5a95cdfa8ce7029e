import { describe, expect, test } from 'vitest'
import { compileParams } from './coerce.ts'
import {
  keysetHeaders,
  keysetParams,
  pageHeaders,
  pageParams,
  queryText,
  readCursor,
  readPage,
  refuseDeepOffset,
  wantsKeyset,
  writeCursor,
} from './pagination.ts'
import { parseQuery } from './nested-params.ts'
import { Fields } from './types.ts'

const check = compileParams(Fields(pageParams))

describe('which page is asked for', () => {
  test.each([
    ['', { page: 1, perPage: 20, limit: 20, offset: 0 }],
    ['page=3&per_page=50', { page: 3, perPage: 50, limit: 50, offset: 100 }],
    ['per_page=101', { page: 1, perPage: 100, limit: 100, offset: 0 }],
    ['page=0', { page: 1, perPage: 20, limit: 20, offset: 0 }],
    ['page=-2&per_page=-1', { page: 1, perPage: 20, limit: 20, offset: 0 }],
    ['page=&per_page=', { page: 1, perPage: 20, limit: 20, offset: 0 }],
  ])('%s', (query, expected) => expect(readPage(check(parseQuery(query)).value!)).toEqual(expected))

  test.each([
    ['per_page=0', ['per_page has a value not allowed']],
    ['page=a&per_page=b', ['page is invalid', 'per_page is invalid']],
    ['page=1.5', ['page is invalid']],
    ['page=99999999999999999999', ['page is invalid']],
  ])('%s is refused', (query, faults) => expect(check(parseQuery(query)).faults).toEqual(faults))
})

const url = 'https://ci.example.test/api/v4/projects/7/pipelines'
const query = { sort: 'desc', page: 2, per_page: 2, order_by: 'id', id: '7' }
const link = (page: number, rel: string) =>
  `<${url}?id=7&order_by=id&page=${page}&per_page=2&sort=desc>; rel="${rel}"`

describe('headers of a page', () => {
  test('in the middle', () =>
    expect(pageHeaders({ page: 2, perPage: 2, total: 17, url, query })).toEqual({
      link: [link(1, 'prev'), link(3, 'next'), link(1, 'first'), link(9, 'last')].join(', '),
      'x-next-page': '3',
      'x-page': '2',
      'x-per-page': '2',
      'x-prev-page': '1',
      'x-total': '17',
      'x-total-pages': '9',
    }))

  test.each([
    ['the only one', { page: 1, total: 0 }, ['', '', '1'], ['first', 'last']],
    ['the first', { page: 1, total: 3 }, ['', '2', '2'], ['next', 'first', 'last']],
    ['the last', { page: 2, total: 4 }, ['1', '', '2'], ['prev', 'first', 'last']],
    ['past the end', { page: 3, total: 4 }, ['', '', '2'], ['first', 'last']],
    ['of exactly 10,000', { page: 2, total: 10_000 }, ['1', '3', '5000'], ['prev', 'next', 'first', 'last']],
    [
      'of more than 10,000',
      { page: 2, total: 10_001, hasMore: true },
      ['1', '3', undefined],
      ['prev', 'next', 'first'],
    ],
    ['not counted', { page: 2, hasMore: true }, ['1', '3', undefined], ['prev', 'next', 'first']],
    ['not counted, the last', { page: 2, hasMore: false }, ['1', '', undefined], ['prev', 'first']],
    ['not counted, past the end', { page: 2, empty: true }, ['', '', undefined], ['first']],
    ['not counted, none', { page: 1, empty: true }, ['', '', undefined], ['first']],
  ])('%s', (_, found, [previous, next, pages], rels) => {
    const headers = pageHeaders({ perPage: 2, url, query, ...found })
    expect([headers['x-prev-page'], headers['x-next-page'], headers['x-total-pages']]).toEqual([
      previous,
      next,
      pages,
    ])
    expect('x-total' in headers).toBe(pages !== undefined)
    expect([...headers['link']!.matchAll(/rel="(\w+)"/g)].map((match) => match[1])).toEqual(rels)
  })

  test('parameters of every kind are repeated, sorted and encoded', () => {
    const params = {
      scope: ['a b', 'c&d'],
      filter: { z: 1, a: true },
      at: new Date(0),
      none: undefined,
      null: null,
    }
    expect(queryText(params)).toBe(
      'at=1970-01-01T00%3A00%3A00.000Z&filter%5Ba%5D=true&filter%5Bz%5D=1&null=&scope%5B%5D=a%20b&scope%5B%5D=c%26d',
    )
  })
})

describe('keyset pagination', () => {
  test('deep offsets are refused', () => {
    expect(() => refuseDeepOffset(readPage({ page: 500, per_page: 100 }), 'Project')).not.toThrow()
    expect(() => refuseDeepOffset(readPage({ page: 501, per_page: 100 }), 'Project')).toThrow(
      expect.objectContaining({
        status: 405,
        body: {
          error:
            'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Project. ' +
            'Remaining records can be retrieved using keyset pagination.',
        },
      }),
    )
  })

  test('is refused where it is not available', () => {
    expect(wantsKeyset({ pagination: 'legacy' }, false)).toBe(false)
    expect(wantsKeyset({ pagination: 'keyset' }, true)).toBe(true)
    expect(() => wantsKeyset({ pagination: 'keyset' }, false)).toThrow(
      expect.objectContaining({
        status: 405,
        body: { error: 'Keyset pagination is not yet available for this type of request' },
      }),
    )
  })

  test('has two kinds', () =>
    expect(compileParams(Fields(keysetParams))({ pagination: 'other' }).faults).toEqual([
      'pagination does not have a valid value',
    ]))

  const keyset = { url, perPage: 2, query: { id: '7', pagination: 'keyset', page: 1, id_after: 3 } }

  test('links to the next page only', () =>
    expect(keysetHeaders({ ...keyset, next: { id_after: 9 } })).toEqual({
      link: `<${url}?id=7&id_after=9&pagination=keyset&per_page=2>; rel="next"`,
    }))

  test('has no link on the last page', () => expect(keysetHeaders(keyset)).toEqual({}))

  test('cursors go both ways', () =>
    expect(keysetHeaders({ ...keyset, previous: { cursor: 'a=' }, next: { cursor: 'b' } })).toEqual({
      link:
        `<${url}?cursor=a%3D&id=7&pagination=keyset&per_page=2>; rel="prev", ` +
        `<${url}?cursor=b&id=7&pagination=keyset&per_page=2>; rel="next"`,
      'x-next-cursor': 'b',
      'x-prev-cursor': 'a=',
    }))

  test('a cursor is checked like any input', () => {
    expect(readCursor(writeCursor({ name: 'größe', id: 5 }), ['name', 'id'])).toEqual({
      name: 'größe',
      id: 5,
    })
    const others = [
      '',
      'x',
      'bnVsbA',
      writeCursor({ id: 5 }),
      writeCursor({ id: 1.5, name: 'a' }),
      writeCursor({ id: 1, name: '\0' }),
    ]
    for (const text of others) {
      expect(() => readCursor(text, ['name', 'id'])).toThrow(
        expect.objectContaining({ status: 400, body: { error: 'cursor is invalid' } }),
      )
    }
  })
})
