import { createHash } from 'node:crypto'
import { tarball } from './tarballs.ts'

export interface NpmVersion {
  readonly name: string
  readonly version: string
  readonly tag?: string
  /** What the package.json says besides. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** What `npm publish` sends. */
export async function npmDocument({ name, version, tag = 'latest', more = {} }: NpmVersion) {
  const manifest = { name, version, ...more }
  const content = await tarball({
    'package/package.json': JSON.stringify(manifest),
    'package/index.js': `module.exports = '${version}'`,
  })
  const hash = (algorithm: string, encoding: 'hex' | 'base64') =>
    createHash(algorithm).update(content).digest(encoding)
  const dist = { shasum: hash('sha1', 'hex'), integrity: `sha512-${hash('sha512', 'base64')}` }
  return {
    _id: name,
    name,
    'dist-tags': { [tag]: version },
    versions: { [version]: { ...manifest, dist } },
    _attachments: {
      [`${name}-${version}.tgz`]: {
        content_type: 'application/octet-stream',
        data: content.toString('base64'),
        length: content.length,
      },
    },
  }
}
