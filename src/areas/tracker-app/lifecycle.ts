import { fieldsOf, jsonIn } from '../../kernel/lib/small-body.ts'
import type { Logger } from '../../kernel/log/index.ts'
import * as store from './store.ts'
import {
  appPath,
  isOfCloud,
  secretContext,
  signForInstance,
  type About,
  type TokenServices,
} from './tokens.ts'

export type Lifecycle = 'installed' | 'uninstalled'

export interface LifecycleServices extends TokenServices {
  readonly log: Logger
}

const longest = 1000

/** Takes the news that the app was installed at a tracker, or was taken away there; answers a status. */
export async function takeLifecycle(
  services: LifecycleServices,
  kind: Lifecycle,
  { token, about, text }: { readonly token: string; readonly about: About; readonly text: string },
): Promise<number> {
  const { db, cipher } = services
  const event = fieldsOf(jsonIn(text))
  const word = (name: string): string | undefined => {
    const value = event[name]
    const fits = typeof value === 'string' && value !== '' && value.length <= longest && !value.includes('\0')
    return fits ? value : undefined
  }
  const clientKey = word('clientKey')
  if (clientKey === undefined || !(await isOfCloud(services, token, clientKey, about))) return 401
  if (kind === 'uninstalled') {
    const known = await store.installation(db.reader, clientKey)
    if (known === undefined) return 422
    await passOn(services, known, kind)
    await db.transaction((tx) => store.uninstall(tx, known.id))
    return 200
  }
  const [url, secret] = [URL.parse(word('baseUrl') ?? ''), word('sharedSecret')]
  if (url === null || !/^https?:$/.test(url.protocol) || secret === undefined) return 422
  const made = await db.transaction((tx) =>
    store.install(tx, {
      client_key: clientKey,
      base_url: url.origin + url.pathname.replace(/\/+$/, ''),
      shared_secret: cipher.seal(secret, secretContext),
    }),
  )
  await passOn(services, made, kind)
  return 200
}

/** Tells the instance that an installation is for, if there is one; answers whether it took it. */
export async function passOn(
  services: LifecycleServices,
  installation: store.Installation,
  kind: Lifecycle,
): Promise<boolean> {
  const { outbound, cipher, log, settings } = services
  const {
    instance_url: instance,
    client_key: clientKey,
    base_url: baseUrl,
    shared_secret: sealed,
  } = installation
  // Without the keys nobody could tell that it is of us.
  if (instance === null || !settings.values.tracker_connect_public_key_storage_enabled) return true
  const path = `/events/${kind}`
  const token = await signForInstance(services, installation, { method: 'POST', path })
  const got = await outbound.postJson(
    instance.replace(/\/+$/, '') + appPath + path,
    { eventType: kind, clientKey, baseUrl, sharedSecret: cipher.open(sealed, secretContext) },
    { headers: { authorization: `JWT ${token}` }, maximumBytes: 1000, timeout: 10_000, follows: false },
  )
  const taken = 'status' in got && got.status < 300
  if (!taken)
    log.warn({ installation: installation.id, kind }, 'another instance was not told of an installation')
  return taken
}
