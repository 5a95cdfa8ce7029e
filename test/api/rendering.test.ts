// @module-tag long
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { umlCode } from '../../src/rendering/filters/diagrams.ts'
import type { Person } from '../world/client.ts'
import { during, set } from '../settings/effects.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
let writer: Person
let place: string

beforeAll(async () => {
  world = await startWorld()
  const group = await world.group()
  project = await world.project({ namespace_id: group.id })
  writer = await world.member({ group }, 'developer')
  place = `/projects/${project.id}`
})
afterAll(() => world[Symbol.asyncDispose]())

const render = async (text: string, more: Json = {}, by: Person = writer): Promise<string> =>
  (expectStatus(await by.post('/markdown', { text, ...more }), 201) as { html: string }).html

/** A page of the wiki as HTML. */
async function page(
  content: string,
  format: string,
  title = world.unique('page'),
  by = writer,
): Promise<string> {
  const found = await writer.get(`${place}/wikis/${encodeURIComponent(title)}`)
  if (found.status === 404) {
    expectStatus(await writer.post(`${place}/wikis`, { title, content, format }), 201)
  } else {
    expectStatus(await writer.put(`${place}/wikis/${encodeURIComponent(title)}`, { content, format }), 200)
  }
  const shown = await by.get(`${place}/wikis/${encodeURIComponent(title)}?render_html=true`)
  return (expectStatus(shown, 200) as { content: string }).content
}

describe('Markdown', () => {
  test.each([
    ['| a | b |\n|:--|--:|\n| 1 | 2 |', '<td align="right">2</td>'],
    [
      '- [x] done',
      '<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled checked> done',
    ],
    ['- [ ] todo\n- [~] never', '<li class="task-list-item inapplicable">'],
    ['~~old~~', '<s>old</s>'],
    ['a[^1]\n\n[^1]: note', '<section class="footnotes">'],
    ['> [!warning] Mind\n> the gap', '<p class="markdown-alert-title">Mind</p>\n<p>the gap</p>'],
    ['$`a<b`$', '<code class="math" data-math-style="inline">a&#x3C;b</code>'],
    ['$$\nx\n$$', 'data-math-style="display"'],
    [':tada: :nothing_such:', '🎉 :nothing_such:'],
    ['---\ntitle: x\n---\ntext', '<span class="hljs-attr">title:</span>'],
    ['[[_TOC_]]\n\n# One\n\n## Two', '<ul class="section-nav"><li><a href="#user-content-one">One</a><ul>'],
    ['# Größe & so', '<h1 id="user-content-größe--so">'],
    ['```js\nconst a = 1\n```', '<span class="hljs-keyword">const</span>'],
    ['```unknown\nx\n```', '<code class="language-unknown">x'],
    ['https://example.com', '<a href="https://example.com" rel="nofollow noreferrer noopener">'],
    ['![film](https://example.com/a.mp4)', '<video src="https://example.com/a.mp4" controls'],
    ['costs $5 and $6', 'costs $5 and $6'],
    ['+++\ntitle = 1\n+++\ntext', '<pre class="code highlight" lang="toml">'],
    [';;;\n{"title":1}\n;;;\ntext', '<pre class="code highlight" lang="json">'],
    ['---php\n$a = 1;\n---\ntext', '<pre class="code highlight" lang="php">'],
    ['>>>\none\n\n- two\n>>>', '<blockquote>\n<p>one</p>\n<ul>\n<li>two</li>\n</ul>\n</blockquote>\n'],
    ['>>>>\n>>>\nin\n>>>\nout\n>>>>', '<blockquote>\n<blockquote>\n<p>in</p>\n</blockquote>\n<p>out</p>\n'],
    ['>>> [!tip] Hear\nand see\n>>>', '<p class="markdown-alert-title">Hear</p>\n<p>and see</p>\n</div>'],
    ['> a\n>>>\nb', '<p>a</p>'],
    [
      '{+ in +} [-out-]',
      '<span class="idiff left right addition"> in </span> <span class="idiff left right deletion">out</span>',
    ],
    ['{+ a +] `{+ b +}`', '{+ a +] <code>{+ b +}</code>'],
    [
      '`#F00A`',
      '<code>#F00A<span class="gfm-color_chip"><span style="background-color: #F00A;"></span></span></code>',
    ],
    ['`HSLA(540,70%,50%,0.3)`', 'style="background-color: HSLA(540,70%,50%,0.3);"'],
    ['`#F00AB`', '<code>#F00AB</code>'],
    ['![a](/a.png){width=100 height=75%}', '<img src="/a.png" alt="a" width="100" height="75%"></p>'],
    ['![a](/a.png){onload=1}', '<img src="/a.png" alt="a">{onload=1}'],
    [
      'see www.example.com/a.',
      '<a href="http://www.example.com/a" rel="nofollow noreferrer noopener">www.example.com/a</a>.',
    ],
    [
      'smb://host/share irc://host/room',
      '<a href="smb://host/share">smb://host/share</a> <a href="irc://host/room">',
    ],
    ['*a* **b** `c`', '<em>a</em> <strong>b</strong> <code>c</code>'],
  ])('%j', async (text, html) => expect(await render(text)).toContain(html))

  test('leads to files of the project as they are called', async () => {
    const html = await render('[a](doc/README.md#top) [b](doc/plan.pdf) ![c](c.png)', { project: project.id })
    const code = `${world.url}/${project.path_with_namespace}/-`
    for (const address of [
      `href="${code}/blob/main/doc/README.md#user-content-top"`,
      `href="${code}/blob/main/doc/plan.pdf"`,
      `src="${code}/raw/main/c.png"`,
    ])
      expect(html).toContain(address)
  })

  test('is refused and answered as specified', async () => {
    expect((await world.anonymous.post('/markdown', { text: 'x' })).status).toBe(401)
    expect((await writer.post('/markdown', {})).body).toEqual({ error: 'text is missing' })
    const missing = await writer.post('/markdown', { text: 'x', gfm: true, project: 'no/where' })
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Project Not Found' }])
    expect(await render('')).toBe('')
  })
})

describe('the four languages of pages', () => {
  test.each([
    [
      'asciidoc',
      '= Title\n\n*bold* link:other[x]\n\n[source,ruby]\n----\nputs 1\n----',
      [/<h1[^>]*>Title/, /<strong>bold/, /-\/wikis\/other"/, /hljs/],
    ],
    [
      'org',
      '* Title\n*bold* [[other][x]]\n#+BEGIN_SRC ruby\nputs 1\n#+END_SRC',
      [/<h1[^>]*>Title/, /<strong>bold/, /-\/wikis\/other"/, /hljs/],
    ],
    [
      'rdoc',
      '= Title\n\n*bold* {x}[link:other]\n\n  puts 1',
      [/<h1[^>]*>Title/, /<strong>bold/, /-\/wikis\/other"/, /hljs/],
    ],
    [
      'markdown',
      '# Title\n\n**bold** [x](other)\n\n```ruby\nputs 1\n```',
      [/<h1[^>]*>Title/, /<strong>bold/, /-\/wikis\/other"/, /hljs/],
    ],
  ])('%s', async (format, content, wanted) => {
    const html = await page(content, format)
    for (const pattern of wanted) expect(html).toMatch(pattern)
  })

  test('links lead from the folder of the page, attachments from the root', async () => {
    const content =
      '[a](near) [b](../up) [c](/root) [d](file.pdf) ![e](uploads/x/e.png) [[Some page]] [[f|g]] [h](#i)'
    const html = await page(content, 'markdown', 'one/two/three')
    const wiki = `${world.url}/${project.path_with_namespace}/-/wikis`
    const files = `${world.url}/api/v4/projects/${project.id}/wiki_attachments`
    for (const address of [
      `${wiki}/one/two/near`,
      `${wiki}/one/up`,
      `${wiki}/root`,
      `${files}/one/two/file.pdf`,
      `${files}/uploads/x/e.png`,
      `${wiki}/one/two/Some-page`,
      `${wiki}/one/two/g`,
      '#user-content-i',
    ]) {
      expect(html).toContain(`"${address}"`)
    }
  })

  test('AsciiDoc includes pages beside it, so many and no files of the machine', async () => {
    await page('one part', 'asciidoc', 'parts/a')
    await page('other part', 'asciidoc', 'parts/b')
    const content =
      'include::a.asciidoc[]\n\ninclude::b.asciidoc[]\n\ninclude::/etc/passwd[]\n\ninclude::../../../etc/passwd[]\n\ninclude::http://127.0.0.1/x[]\n'
    const whole = await page(content, 'asciidoc', 'parts/whole')
    expect(whole).toContain('one part')
    expect(whole).toContain('other part')
    expect(whole).not.toContain('root:')
    await during(world, { asciidoc_max_includes: 1 }, async () => {
      const half = await page(content, 'asciidoc', 'parts/whole')
      expect(half).toContain('one part')
      expect(half).not.toContain('other part')
    })
    expect(await page(content, 'asciidoc', 'parts/whole')).toContain('other part')
  })
})

describe('settings', () => {
  test('of diagram renderers and the proxy, with the check values of the specification', async () => {
    expect(umlCode('Bob -> Sara : Hello')).toBe('U9npoazIqBLJ24uiIbImKl18pSd91m0rkGMq')
    const text =
      '```plantuml\nBob -> Sara : Hello\n```\n\n```dot\ngraph {}\n```\n\n```bpmn\nx\n```\n\n```mermaid\ngraph\n```\n\n![i](https:example.com) ![k](https://kept.org/x.png)'
    const plain = await render(text)
    expect(plain).not.toContain('uml.example')
    const settings = {
      umlrender_enabled: true,
      umlrender_url: 'http://uml.example',
      diagramrender_enabled: true,
      diagramrender_url: 'http://diagrams.example/',
      asset_proxy_enabled: true,
      asset_proxy_url: 'https://proxy.example',
      asset_proxy_secret_key: 'shared-secret',
      asset_proxy_allowlist: ['*.other.org', 'kept.org'],
    }
    await during(world, settings, async () => {
      const html = await render(text)
      expect(html).toContain(
        'https://proxy.example/648e074361143780357db0b5cf73d4438d5484d3/68747470733a6578616d706c652e636f6d',
      )
      expect(html).toContain('<img src="https://kept.org/x.png"')
      expect(html).toContain('src="http://uml.example/png/U9npoazIqBLJ24uiIbImKl18pSd91m0rkGMq"')
      expect(html).toMatch(/src="http:\/\/diagrams\.example\/dot\/svg\/[\w=-]+" class="js-render-kroki"/)
      expect(html).toContain('<code class="language-bpmn">')
      expect(html).toContain('<code class="language-mermaid">')
      await set(world, { diagramrender_formats: { bpmn: true } })
      expect(await render(text)).toContain('/bpmn/svg/')
      await set(world, { diagramrender_formats: { bpmn: false } })
      expect(await render(text)).not.toContain('/bpmn/svg/')
      // By its old name, and as one text.
      await set(world, { asset_proxy_whitelist: '*.other.org' })
      expect(await render(text)).not.toContain('<img src="https://kept.org/x.png"')
      await set(world, { asset_proxy_whitelist: 'kept.org, *.other.org' })
      expect(await render(text)).toContain('<img src="https://kept.org/x.png"')
      expect(await render(`\`\`\`dot\n${'x'.repeat(2001)}\n\`\`\``)).toContain('hidden')
    })
    expect(await render(text)).toBe(plain)
  })

  test('local_markdown_version has everything rendered anew; so have changes of the proxy', async () => {
    const text = `Kept ${world.unique('text')}`
    const renders = async (): Promise<number> => {
      await render(text)
      const { text: metrics } = await world.root.get(`${world.url}/-/metrics`)
      return Number(
        /^guildhall_render_duration_seconds_count\{language="markdown"\} (\d+)$/m.exec(metrics)![1],
      )
    }
    const first = await renders()
    expect(await renders()).toBe(first)
    const { local_markdown_version: version } = expectStatus(
      await world.root.get('/application/settings'),
      200,
    )
    await set(world, { local_markdown_version: (version as number) + 1 })
    expect(await renders()).toBe(first + 1)
    expect(await renders()).toBe(first + 1)
    const changed = await set(world, { asset_proxy_allowlist: ['new.example'] })
    expect(changed['local_markdown_version']).toBe((version as number) + 2)
    expect(await renders()).toBe(first + 2)
    await set(world, { local_markdown_version: version as number, asset_proxy_allowlist: [] })
    expect(await renders()).toBe(first + 2)
  })
})

describe('hostile texts', () => {
  const repeated = (piece: string, times: number) => piece.repeat(times)
  const slow: [string, string, string][] = [
    ['markdown', 'nested quotes', repeated('> ', 20_000)],
    ['markdown', 'nested brackets', repeated('[', 50_000)],
    ['markdown', 'nested images', repeated('![', 50_000)],
    ['markdown', 'emphasis', repeated('*a _b ', 20_000)],
    ['markdown', 'open links', repeated('[a](', 30_000)],
    ['markdown', 'backticks', Array.from({ length: 500 }, (_, n) => '`'.repeat(n)).join(' ')],
    ['markdown', 'nested lists', Array.from({ length: 1000 }, (_, n) => `${'  '.repeat(n)}- x`).join('\n')],
    ['markdown', 'comments that stay open', repeated('<!-- ', 20_000)],
    ['markdown', 'tags that stay open', repeated('<a href="', 20_000)],
    ['markdown', 'deep elements', repeated('<div>', 50_000)],
    ['markdown', 'footnotes', Array.from({ length: 2000 }, (_, n) => `[^${n}]: [^${n + 1}]\n`).join('\n')],
    ['markdown', 'dollars', repeated('$a', 50_000)],
    [
      'markdown',
      'wide tables',
      `|${repeated('a|', 2000)}\n|${repeated('-|', 2000)}\n${repeated('|\n', 2000)}`,
    ],
    ['markdown', 'references', repeated('a/b.c-', 50_000)],
    ['markdown', 'signs', repeated('@#!~%$&', 30_000)],
    ['markdown', 'addresses', repeated('http://', 20_000)],
    ['markdown', 'hosts', repeated('www.', 20_000)],
    ['markdown', 'quotations in lists', repeated('- >>>\n', 10_000)],
    ['markdown', 'additions that stay open', repeated('{+', 50_000)],
    ['asciidoc', 'marks', repeated('*_`', 20_000)],
    ['asciidoc', 'macros', repeated('link:a[', 10_000)],
    [
      'asciidoc',
      'attributes',
      `:a: x\n${Array.from({ length: 30 }, (_, n) => `:a${n}: {a${n - 1}}{a${n - 1}}`).join('\n')}\n{a29}`,
    ],
    ['asciidoc', 'blocks', repeated('====\n', 5000)],
    ['asciidoc', 'equal headings', repeated('== a\n\n', 20_000)],
    ['asciidoc', 'nested lists', Array.from({ length: 200 }, (_, n) => `${'*'.repeat(n + 1)} x`).join('\n')],
    ['asciidoc', 'cells', `|===\n${repeated('|a ', 20_000)}\n|===`],
    ['asciidoc', 'attributes that name one another', ':a: {b}\n:b: {a}\n\n{a}'],
    ['org', 'marks', repeated('*a/b_c=', 30_000)],
    ['org', 'links', repeated('[[', 50_000)],
    ['org', 'lists', Array.from({ length: 2000 }, (_, n) => `${' '.repeat(n)}- x`).join('\n')],
    ['org', 'drawers', repeated(':a:\n', 20_000)],
    ['org', 'bars', repeated('|', 100_000)],
    ['org', 'notes', Array.from({ length: 5000 }, (_, n) => `[fn:${n}] [fn:${n + 1}]`).join('\n')],
    ['org', 'blocks that stay open', repeated('#+BEGIN_QUOTE\n', 5000)],
    ['rdoc', 'marks', repeated('*a_b+', 30_000)],
    ['rdoc', 'braces', repeated('{a}[', 30_000)],
    ['rdoc', 'labels', repeated('a::', 50_000)],
    ['rdoc', 'lists', Array.from({ length: 2000 }, (_, n) => `${' '.repeat(n)}* x`).join('\n')],
    ['rdoc', 'quotes', repeated('>>>\n a\n\n', 20_000)],
    ['rdoc', 'tags', repeated('<b><i>', 30_000)],
  ]

  test.each(slow)('%s: %s', { timeout: 120_000 }, async (format, _, content) => {
    const html = await page(content, format)
    expect(html).not.toMatch(/<script/i)
  })

  test.each([
    ['markdown', '# a\n\n'],
    ['org', '* a\n'],
    ['rdoc', '= a\n\n'],
  ])(
    '%s: each of very many equal headings has an id of its own',
    { timeout: 120_000 },
    async (format, one) => {
      expect(await page(one.repeat(50_000), format)).toMatch(/"(?:user-content-)?a-49999"/)
    },
  )

  test('do not keep others waiting', { timeout: 120_000 }, async () => {
    const piece = readFileSync(path.resolve(import.meta.dirname, '../../ARCHITECTURE.md'), 'utf8')
    const text = piece.repeat(Math.ceil(2_500_000 / piece.length)).slice(0, 2_500_000)
    const told: string[] = []
    const rendering = [1, 2].map(async (number) => {
      const html = await render(`${number} ${text}`)
      told.push('long')
      return html
    })
    for (let count = 0; count < 5; count += 1) expectStatus(await writer.get('/version'), 200)
    told.push('others')
    await render('Short')
    told.push('short')
    for (const html of await Promise.all(rendering)) expect(html.length).toBeGreaterThan(2_500_000)
    // The service runs in this very thread: had it rendered here, nobody would have been answered before.
    expect(told[0]).toBe('others')
    // However many long texts there are, a short one does not wait until all of them are done.
    expect(told.indexOf('short')).toBeLessThan(told.lastIndexOf('long'))
  })
})
