import { Answer } from '../../../kernel/endpoint/index.ts'
import { escapeHtml } from '../../../kernel/lib/html.ts'
import { normalized } from './rules.ts'
import type { LinkRow } from './store.ts'

/** A page of links, as installers read it (PEP 503). */
function page(title: string, links: readonly string[]): Answer {
  const head = `<head><meta name="pypi:repository-version" content="1.0"><title>${escapeHtml(title)}</title></head>`
  const body = [`<h1>${escapeHtml(title)}</h1>`, ...links].join('\n')
  return new Answer(
    200,
    { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' },
    `<!DOCTYPE html>\n<html>\n${head}\n<body>\n${body}\n</body>\n</html>\n`,
  )
}

/** `base`: the address of this list. */
export function namesPage(names: readonly { readonly name: string }[], base: string): Answer {
  const links = names.map(
    ({ name }) => `<a href="${escapeHtml(`${base}/${normalized(name)}/`)}">${escapeHtml(name)}</a><br>`,
  )
  return page('Links', links)
}

export function filesPage(rows: readonly LinkRow[], externalUrl: string): Answer {
  const links = rows.map(({ project_id, file_name, digest, requires_python }) => {
    const at = `${externalUrl}/api/v4/projects/${project_id}/packages/pypi/files/${digest}/${encodeURIComponent(file_name)}`
    const needs = requires_python === null ? '' : ` data-requires-python="${escapeHtml(requires_python)}"`
    return `<a href="${escapeHtml(`${at}#sha256=${digest}`)}"${needs}>${escapeHtml(file_name)}</a><br>`
  })
  return page(`Links for ${rows[0]!.name}`, links)
}
