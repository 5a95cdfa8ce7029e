import { expect, test } from 'vitest'
import { picture } from './picture.ts'

const about = { key: 'pipeline', value: 'passed', color: '#4c1' }
const widthsOf = (svg: string): number[] =>
  [...svg.matchAll(/<rect (?:x="\d+" )?width="(\d+)" height="20" fill="#/g)].map((match) => Number(match[1]))

test('a picture says a name and a value', () => {
  const svg = picture(about, {})
  expect(svg).toContain('<title>pipeline: passed</title>')
  expect(widthsOf(svg)).toEqual([65, 54])
  expect(svg).toContain('fill="#4c1"')
})

test('its name and the widths of its fields can be chosen within limits', () => {
  const svg = picture(about, { key_text: 'Front End', key_width: '130', value_width: '99' })
  expect(svg).toContain('<title>Front End: passed</title>')
  expect(widthsOf(svg)).toEqual([130, 99])
  for (const wish of ['0', '513', '-1', '1e2', 'wide', ''])
    expect(widthsOf(picture(about, { key_width: wish }))).toEqual([65, 54])
  expect(widthsOf(picture(about, { value_width: '201' }))).toEqual([65, 54])
  expect(picture(about, { key_text: 'x'.repeat(65) })).toContain('>pipeline<')
})

test('no text becomes markup, or grows without an end', () => {
  const svg = picture({ ...about, value: '</text><script>' }, { key_text: '"><a&\u0000\ud800' })
  for (const part of ['<script', '<a&', '\u0000', '\ud800']) expect(svg).not.toContain(part)
  expect(svg).toContain('&lt;script&gt;')
  const long = picture({ ...about, value: 'v'.repeat(1000) }, {})
  expect(long.length).toBeLessThan(2500)
  expect(widthsOf(long)).toEqual([65, 200])
})

test('flat-square has no round corners', () => {
  expect(picture(about, {})).toContain('rx="3"')
  expect(picture(about, { style: 'flat-square' })).toContain('rx="0"')
})
