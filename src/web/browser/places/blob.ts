import { call, readText } from '../api.ts'
import { tags, type Child } from '../dom.ts'
import type { Project } from '../entities.ts'
import { address, endpoint, named, query, slashed, withQuery } from '../here.ts'
import { codeView } from '../parts/code.ts'
import { markdown } from '../parts/markdown.ts'
import { refBar } from '../parts/ref-bar.ts'
import { splitRefPath, type RefPath } from '../parts/ref-path.ts'
import { isMarkdown } from '../parts/tree-view.ts'
import { showInProject } from '../project-frame.ts'

const { a, div, img, p, span } = tags

/** Larger files are offered, not shown; in bytes. */
const largestShown = 2_000_000

const pictures = /\.(?:png|jpe?g|gif|webp|avif|svg|ico|bmp)$/i

interface File {
  readonly size: number
  readonly type: string
}

await showInProject('Code', async (project) => {
  const { found: file, ...at } = await splitRefPath(named('rest'), (tried) => look(project, tried))
  const raw = address`/${slashed(project.path_with_namespace)}/-/raw/${slashed(`${at.ref}/${at.path}`)}`
  return {
    title: at.path,
    body: [
      refBar(project, at, links(project, at, file, raw)),
      div({ className: 'file' }, await content(project, at, file, raw)),
    ],
  }
})

/** What kind of file is there, without its content. */
async function look({ id }: Project, { ref, path }: RefPath): Promise<File> {
  const { headers } = await call('HEAD', endpoint`/projects/${id}/repository/files/${path}`, {
    query: { ref },
  })
  return { size: Number(headers.get('x-gitlab-size')), type: headers.get('content-type') ?? '' }
}

function links(
  { path_with_namespace: full }: Project,
  { ref, path }: RefPath,
  { size }: File,
  raw: string,
): Child {
  const below = slashed(`${ref}/${path}`)
  const isSource = query.get('plain') === '1'
  return span(
    { className: 'links' },
    span({ className: 'soft' }, `${size.toLocaleString('en')} bytes`),
    isMarkdown(path) &&
      a({ href: withQuery({ plain: isSource ? undefined : 1 }) }, isSource ? 'As readers see it' : 'Source'),
    a({ href: address`/${slashed(full)}/-/commits/${below}` }, 'History'),
    a({ href: raw }, 'Raw'),
  )
}

async function content(
  project: Project,
  { ref, path }: RefPath,
  { size }: File,
  raw: string,
): Promise<Child> {
  if (pictures.test(path)) return img({ src: raw, alt: path })
  if (size > largestShown) return offer('The file is large.', raw)
  const text = await readText(endpoint`/projects/${project.id}/repository/files/${path}/raw`, { ref })
  if (text.includes('\0')) return offer('The file is not a text.', raw)
  return isMarkdown(path) && query.get('plain') !== '1'
    ? markdown(text, project.path_with_namespace)
    : codeView(text, path.split('/').at(-1)!)
}

function offer(words: string, raw: string): Child {
  return p(words, ' ', a({ href: raw, download: '' }, 'Download it'), '.')
}
