import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { migrations } from '../../migrations/index.ts'
import {
  Gate,
  openPolicyServer,
  PageVisitors,
  Throttles,
  UniqueAddresses,
  type ProjectSubject,
} from '../access/index.ts'
import { refRules } from './ref-rules.ts'
import { ChatPlatform } from '../areas/chat-app/index.ts'
import { Directory, readLdapConfig } from '../areas/ldap/index.ts'
import { RefDoor, RepositoryPlaces } from '../areas/repository/index.ts'
import { readSingleSignOn, SingleSignOn } from '../areas/single-sign-on/index.ts'
import { SiteAddresses } from '../areas/sites/index.ts'
import { Captcha, SignInCaptcha, SpamGuard } from '../areas/spam/index.ts'
import { Blobs } from '../blobs/index.ts'
import { openGit } from '../git/index.ts'
import type { Config } from '../kernel/config/index.ts'
import { Database, Notifications, SharedCounts } from '../kernel/db/index.ts'
import { createServer, InnerApi, mountEndpoints, Registry } from '../kernel/endpoint/index.ts'
import { Cipher } from '../kernel/lib/secrets.ts'
import { Outbound } from '../kernel/outbound/index.ts'
import type { Logger } from '../kernel/log/index.ts'
import { Mailer } from '../mail/index.ts'
import { outboundRules, Settings } from '../settings/index.ts'
import { Renderer } from '../rendering/index.ts'
import { Events, TaskWorker } from '../tasks/index.ts'
import { mountPages, placePages } from '../web/index.ts'
import { areas } from './areas.ts'
import { startBuiltInRunner } from './built-in-runner.ts'
import { openUpToDate, type OpenDatabase } from './database.ts'
import { mountHealth } from './health.ts'
import { readNodeId } from './node-id.ts'
import { openImages } from './images.ts'
import { openLargeContent } from './large-content.ts'
import { mountMaintenance } from './maintenance.ts'
import { Metrics } from './metrics.ts'
import { twinOf } from './page-addresses.ts'
import { pageOptions } from './pages.ts'
import { mountThrottles, mountUniqueAddresses } from './throttled.ts'
import { openApiEndpoint } from './openapi.ts'
import { secretKey } from './secret-key.ts'
import { firstCredentials, seed, type FirstCredentials } from './seed.ts'
import type { Services } from './services.ts'
import { prepareStorages } from './storages.ts'

export interface Service extends AsyncDisposable {
  /** Where it listens: `http://127.0.0.1:8080`. */
  readonly address: string
  /** Where people reach it. */
  readonly externalUrl: string
  /** Made for `root` at the first start that succeeded, where the environment has no token. */
  readonly firstCredentials: FirstCredentials | undefined
  /** Of git over SSH, where it listens. */
  readonly sshPort: number | undefined
  readonly services: Services
  /** Every endpoint it serves. */
  readonly registry: Registry
}

/**
 * Builds everything once, in order; what fails or ends takes down again all that was opened before it, the database
 * that is being opened among it.
 */
export async function startService(
  config: Config,
  log: Logger,
  opening: Promise<OpenDatabase> = openUpToDate(config, log),
): Promise<Service> {
  await using stack = new AsyncDisposableStack()
  stack.defer(() =>
    opening.then(
      (opened) => opened[Symbol.asyncDispose](),
      () => undefined,
    ),
  )
  const ldapConfig = readLdapConfig(config.ldapConfig, process.env)
  const providers = readSingleSignOn(config.oidcConfig, process.env)

  const { connection } = await opening
  await prepareStorages(config.storages)
  const nodeId = await readNodeId(config.dataDirectory)
  const db = stack.use(new Database({ connection, size: config.databasePool, lane: 2, log }))

  const notifications = new Notifications(connection, log)
  const cipher = new Cipher(await secretKey(config.secretKey, config.dataDirectory))
  const settings = stack.use(
    new Settings({
      db,
      notifications,
      cipher,
      plan: config.plan,
      signInSources: providers.map(({ name }) => name),
      log,
    }),
  )
  await settings.load()

  const counts = stack.use(new SharedCounts(db.writer, log))
  const throttles = new Throttles(settings, counts)
  const addresses = new UniqueAddresses(db, settings)
  const git = stack.use(await openGit())
  let bound = ''
  let sshPort: number | undefined
  const externalUrl = (): string => config.externalUrl?.href.replace(/\/$/, '') ?? bound
  const sshPlace = (): { host: string; port: number } => ({
    host: new URL(externalUrl()).hostname,
    port: config.sshExternalPort ?? sshPort ?? 22,
  })
  const sshAddress = (fullPath: string): string => {
    const { host, port } = sshPlace()
    // The short form has no room for a port.
    return port === 22 ? `git@${host}:${fullPath}.git` : `ssh://git@${host}:${port}/${fullPath}.git`
  }
  const metrics = new Metrics()
  const places = new RepositoryPlaces(git, config.storages)
  const events = new Events(db)
  const door = new RefDoor<ProjectSubject>({
    db,
    events,
    places,
    rules: refRules({ db, settings, plan: config.plan, repositoryOf: (of) => places.of(of), externalUrl }),
  })
  const outbound = new Outbound(() => outboundRules(settings.values, externalUrl()))
  const captcha = new Captcha(config.captchaUrl, { outbound, settings, log })
  const services: Services = {
    log,
    plan: config.plan,
    vendorFieldNames: config.vendorFieldNames,
    storages: Object.keys(config.storages),
    externalUrl,
    sshAddress,
    sshPlace,
    sshListen: config.sshPort === undefined ? undefined : { host: config.host, port: config.sshPort },
    sshBound: (port) => (sshPort = port),
    dataDirectory: config.dataDirectory,
    db,
    notifications,
    settings,
    api: new InnerApi(),
    counts,
    throttles,
    addresses,
    events,
    mail: stack.use(new Mailer({ db, cipher, settings, log, ...config.mail, externalUrl })),
    directory: new Directory(ldapConfig, { db, log, settings }),
    singleSignOn: new SingleSignOn(providers, settings),
    cipher,
    largeContent: await openLargeContent(config, stack),
    blobs: new Blobs(path.join(config.dataDirectory, 'blobs')),
    outbound,
    trackerKeysUrl: config.trackerKeysUrl,
    runnerReleasesUrl: config.runnerReleasesUrl,
    chatPlatform: new ChatPlatform(config.chatAppUrl, { outbound, log }),
    captcha,
    signInCaptcha: new SignInCaptcha({ settings, captcha, counts }),
    spam: new SpamGuard(config.spamFilterUrl, { db, outbound, settings, captcha, externalUrl, log }),
    policy: openPolicyServer({ db, outbound, settings, log }),
    images: await openImages(config, externalUrl, stack),
    sites: new SiteAddresses(config.pagesUrl, { cipher, settings }),
    siteResolvers: config.pagesResolvers,
    importHosts: config.importHosts,
    git,
    renderer: stack.use(new Renderer(log, { observe: metrics.observeRender.bind(metrics) })),
    places,
    door,
  }
  await seed(services, config)
  const built = areas(services)
  await notifications.start()
  stack.use(notifications)

  if (config.roles.has('tasks')) {
    const tasks = [
      ...built.flatMap((area) => area.tasks ?? []),
      ...services.events.tasks(),
      ...services.mail.tasks(),
    ]
    const schedules = [...built.flatMap((area) => area.schedules ?? []), ...services.mail.schedules()]
    stack.use(await TaskWorker.start(services, tasks, schedules))
  }

  const stopping = new AbortController()
  const server = createServer({
    log,
    externalUrl,
    trustedProxies: config.trustedProxies,
    twinOf,
    observe: metrics.observe.bind(metrics),
  })
  services.api.attach(server)
  for (const area of built) area.mountHosts?.(server)
  mountMaintenance(server, settings)
  const visitors = new PageVisitors(db, settings)
  mountThrottles(server, throttles, visitors)
  mountUniqueAddresses(server, addresses, visitors)
  mountHealth(server, {
    db,
    metrics,
    nodeId,
    storages: config.storages,
    migrations: Object.keys(migrations),
    fromAnywhere: config.metricsFromAnywhere,
    measured: () => settings.values.prometheus_metrics_enabled,
    isStopping: () => stopping.signal.aborted,
  })
  const pages = pageOptions(services, visitors)
  const registry: Registry = new Registry([
    ...built.flatMap((area) => area.endpoints ?? []),
    openApiEndpoint(() => registry),
  ])
  const gate = new Gate({ db, plan: config.plan, settings, counts, throttles, addresses, log, externalUrl })
  mountEndpoints(server, registry, gate, externalUrl, placePages(pages))
  for (const area of built) area.mount?.(server, gate)
  mountPages(server, pages)
  stack.defer(() => close(server, config.shutdownTimeout))
  await server.listen({ port: config.port, host: config.host })
  bound = listeningAt(server, config.host)
  for (const area of built) {
    if (area.start !== undefined) stack.use(await area.start())
  }
  if (config.roles.has('runner')) {
    stack.use(
      await startBuiltInRunner({
        db,
        log,
        url: bound,
        nodeId,
        dataDirectory: config.dataDirectory,
        concurrency: config.runnerConcurrency,
        isolation: config.runnerIsolation,
        shutdownTimeout: config.shutdownTimeout,
      }),
    )
  }

  const credentials = config.rootToken === undefined ? await firstCredentials(services) : undefined
  stack.defer(() => stopping.abort())
  const opened = stack.move()
  return {
    address: bound,
    externalUrl: externalUrl(),
    firstCredentials: credentials,
    sshPort,
    services,
    registry,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function listeningAt(server: FastifyInstance, host: string): string {
  const { port } = server.server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** Stops accepting and lets requests end; after `timeout` seconds what is left is cut off. */
async function close(server: FastifyInstance, timeout: number): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), timeout * 1000)
  try {
    await server.close()
  } finally {
    clearTimeout(cut)
  }
}
