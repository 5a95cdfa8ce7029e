import { Answer } from '../../kernel/endpoint/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import type { Settings, SettingValues } from '../../settings/index.ts'

const registries = {
  npm: 'https://registry.npmjs.org/',
  pypi: 'https://pypi.org/simple/',
  maven: 'https://repo.maven.apache.org/maven2/',
} as const

type Forwarded = keyof typeof registries

/**
 * What is answered to who asks for a package that is not here: where everybody else keeps it, if the instance says so.
 * `path` is written into the address as it is. 307 keeps the method.
 */
export function elsewhere(
  settings: Pick<Settings, 'values'>,
  format: Forwarded,
  path: string,
  status: 302 | 307 = 302,
): Answer {
  if (!settings.values[`${format}_package_requests_forwarding` satisfies keyof SettingValues])
    throw recordNotFound()
  return new Answer(status, { location: registries[format] + path })
}
