import { apiOf, Figures, type Figure } from './figures.ts'
import type { GitClient } from './git-client.ts'
import type { Service } from './service.ts'
import { rootToken } from './world.ts'

const listed = 10_000
const pushed = 5_000
const words = 'The quick brown fox jumps over the lazy dog, again and again, until nobody looks any more. '

/** A hundred thousand characters of each language, with what pages are made of. */
const pieces: Readonly<Record<string, string>> = {
  markdown: `# Heading\n\n${words.repeat(8)}**bold** [link](page)\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`js\nconst a = 1\n\`\`\`\n\n`,
  asciidoc: `== Heading\n\n${words.repeat(8)}*bold* link:page[link]\n\n* one\n* two\n\n|===\n|a |b\n|===\n\n[source,js]\n----\nconst a = 1\n----\n\n`,
  org: `* Heading\n\n${words.repeat(8)}*bold* [[page][link]]\n\n- one\n- two\n\n| a | b |\n| 1 | 2 |\n\n#+BEGIN_SRC js\nconst a = 1\n#+END_SRC\n\n`,
  rdoc: `= Heading\n\n${words.repeat(8)}*bold* {link}[page]\n\n* one\n* two\n\n  const a = 1\n\n`,
}

export async function wikis(service: Service, git: GitClient, quick: boolean): Promise<Figure[]> {
  const many = quick ? 30 : 300
  const api = apiOf(service)
  const figures = new Figures()
  const measure = figures.measure.bind(figures)
  const project = async (name: string): Promise<{ id: number; path_with_namespace: string }> =>
    (await api('POST', '/projects', { name })) as { id: number; path_with_namespace: string }

  const large = await project(`wiki-bench-${Date.now()}`)
  const place = `/projects/${large.id}`
  await push(git, service, large.path_with_namespace, 'wiki-large.git', listed)
  await measure(`first list of ${listed} pages after a push`, 1, () => api('GET', `${place}/wikis`))
  await measure(`list of ${listed} pages`, many, (number) =>
    api('GET', `${place}/wikis?per_page=100&page=${1 + (number % 100)}`),
  )
  await measure('page', many, (number) => api('GET', `${place}/wikis/folder-${number % 50}%2Fpage-${number}`))
  await measure('page as HTML, rendered', many, (number) =>
    api('GET', `${place}/wikis/folder-${number % 50}%2Fpage-${number}?render_html=true`),
  )
  await measure('page as HTML, kept', many, (number) =>
    api('GET', `${place}/wikis/folder-${number % 50}%2Fpage-${number}?render_html=true`),
  )
  await measure(`create a page beside ${listed}`, quick ? 10 : 100, (number) =>
    api('POST', `${place}/wikis`, { title: `made ${number}`, content: words }),
  )

  const small = await project(`wiki-push-${Date.now()}`)
  await measure(`push of ${pushed} pages`, 1, () =>
    push(git, service, small.path_with_namespace, 'wiki-small.git', pushed),
  )
  await measure('list after it', 1, () => api('GET', `/projects/${small.id}/wikis?per_page=100`))

  for (const [format, piece] of Object.entries(pieces)) {
    const content = filledWith(piece, 100_000)
    const titles = Array.from({ length: quick ? 3 : 10 }, (_, number) => `${format}-${number}`)
    for (const title of titles) {
      await api('POST', `/projects/${small.id}/wikis`, { title, format, content: `${title}\n\n${content}` })
    }
    await measure(`render 100 kB of ${format}`, titles.length, (number) =>
      api('GET', `/projects/${small.id}/wikis/${titles[number]!}?render_html=true`),
    )
    const large = { title: `large ${format}`, format, content: filledWith(piece, 2_500_000) }
    await api('POST', `/projects/${small.id}/wikis`, large)
    await measure(`render 2.5 MB of ${format}`, 1, () =>
      api('GET', `/projects/${small.id}/wikis/large-${format}?render_html=true`),
    )
  }
  await measure(`search ${listed} pages`, quick ? 5 : 50, (number) =>
    api('GET', `${place}/wiki_blobs?search=${encodeURIComponent(`Page ${number}`)}`),
  )
  return figures.all
}

function filledWith(piece: string, size: number): string {
  return piece.repeat(Math.ceil(size / piece.length)).slice(0, size)
}

/** A wiki of that many pages in 50 folders, in one push. */
async function push(
  git: GitClient,
  service: Service,
  path: string,
  name: string,
  pages: number,
): Promise<void> {
  const source = await git.bare(name)
  await git.run(['-C', source, 'fast-import', '--quiet', '--done'], history(pages))
  const url = `http://root:${rootToken}@127.0.0.1:${service.port}/${path}.wiki.git`
  await git.run(['-C', source, 'push', '--quiet', url, 'main'])
}

function* history(pages: number): Generator<string> {
  yield 'commit refs/heads/main\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 5\nPages\n'
  for (let number = 0; number < pages; number += 1) {
    const text = `# Page ${number}\n\n${words.repeat(1 + (number % 20))}`
    yield `M 100644 inline folder-${number % 50}/page-${number}.md\ndata ${Buffer.byteLength(text)}\n${text}\n`
  }
  yield 'done\n'
}
