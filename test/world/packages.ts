import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'
import { tarball } from './tarballs.ts'

/** A zip of these files. */
export async function zipped(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return buffer(zip.outputStream)
}

export function formWith(
  name: string,
  filename: string,
  content: Buffer | string,
  fields: Readonly<Record<string, string>> = {},
): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  form.append(name, new Blob([new Uint8Array(Buffer.from(content))]), filename)
  return form
}

/** A wheel that pip installs: one module, which bears the name of the package. */
export function wheel(name: string, version: string): Promise<Buffer> {
  const info = `${name}-${version}.dist-info`
  return zipped({
    [`${name}/__init__.py`]: `version = "${version}"\n`,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: `${name}/__init__.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  })
}

/** What twine sends. */
export function pythonForm(
  name: string,
  version: string,
  content: Buffer | string,
  more: Readonly<Record<string, string>> = {},
): FormData {
  const fields = { ':action': 'file_upload', protocol_version: '1', name, version, ...more }
  return formWith('content', `${name}-${version}-py3-none-any.whl`, content, fields)
}

export async function chartForm(name: string, version: string, more = ''): Promise<FormData> {
  const chart = `apiVersion: v2\nname: ${name}\nversion: ${version}\ndescription: A chart\n${more}`
  return formWith('chart', 'chart.tgz', await tarball({ [`${name}/Chart.yaml`]: chart }))
}

export async function nugetForm(id: string, version: string, more = ''): Promise<FormData> {
  const nuspec = `<?xml version="1.0"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"><metadata>
<id>${id}</id><version>${version}</version><authors>Somebody</authors><description>Does &amp; is</description>${more}
</metadata></package>`
  return formWith('package', 'package.nupkg', await zipped({ 'package.nuspec': nuspec, 'lib/a.dll': 'x' }))
}
