import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { commonMark } from './languages/markdown.ts'

interface Example {
  readonly markdown: string
  readonly html: string
  readonly section: string
  readonly number: number
}

const { tests: examples } = createRequire(import.meta.url)('commonmark-spec') as { tests: Example[] }

/** The examples of the specification write tabs as arrows. */
const plain = (text: string): string => text.replaceAll('→', '\t')

describe("CommonMark's own examples", () => {
  const core = commonMark().set({ xhtmlOut: true })

  test('are all there', () => expect(examples.length).toBeGreaterThan(640))

  test.each(examples.map((example) => [`${example.number} ${example.section}`, example] as const))(
    '%s',
    (_, { markdown, html }) => expect(core.render(plain(markdown))).toBe(plain(html)),
  )
})
