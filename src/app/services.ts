import type { PolicyServer, ProjectSubject, Throttles, UniqueAddresses } from '../access/index.ts'
import type { ChatPlatform } from '../areas/chat-app/index.ts'
import type { Directory } from '../areas/ldap/index.ts'
import type { LargeContent } from '../areas/git-lfs/index.ts'
import type { RefDoor, RepositoryPlaces } from '../areas/repository/index.ts'
import type { SingleSignOn } from '../areas/single-sign-on/index.ts'
import type { SiteAddresses } from '../areas/sites/index.ts'
import type { Captcha, SignInCaptcha, SpamGuard } from '../areas/spam/index.ts'
import type { Blobs } from '../blobs/index.ts'
import type { Images } from './images.ts'
import type { Config, Plan } from '../kernel/config/index.ts'
import type { InnerApi } from '../kernel/endpoint/index.ts'
import type { Database, Notifications, SharedCounts } from '../kernel/db/index.ts'
import type { Git } from '../git/index.ts'
import type { Renderer } from '../rendering/index.ts'
import type { Cipher } from '../kernel/lib/secrets.ts'
import type { Mailer } from '../mail/index.ts'
import type { Outbound } from '../kernel/outbound/index.ts'
import type { Logger } from '../kernel/log/index.ts'
import type { Settings } from '../settings/index.ts'
import type { Events } from '../tasks/index.ts'

/** What the areas are built from. Each names in its own parameters the few it needs. */
export interface Services {
  readonly log: Logger
  readonly plan: Plan
  /** Whether answers repeat neutral names in the vendor's spelling. */
  readonly vendorFieldNames: boolean
  /** Names of the configured storages of repositories. */
  readonly storages: readonly string[]
  /** Scheme, host and port (and path) under which people reach the service, without a slash at the end. */
  readonly externalUrl: () => string
  /** Where the repository of this path is cloned from over SSH. */
  readonly sshAddress: (fullPath: string) => string
  /** Where git over SSH is reached. */
  readonly sshPlace: () => { readonly host: string; readonly port: number }
  /** Where git over SSH listens; undefined: not at all. */
  readonly sshListen: { readonly host: string; readonly port: number } | undefined
  /** Told once it listens. */
  readonly sshBound: (port: number) => void
  readonly dataDirectory: string
  readonly db: Database
  readonly notifications: Notifications
  readonly settings: Settings
  /** The public API, for what a request does on behalf of its caller. */
  readonly api: InnerApi
  /** Counts of uses that all nodes share. */
  readonly counts: SharedCounts
  /** How many requests somebody may make. */
  readonly throttles: Throttles
  /** From how many addresses one user may come. */
  readonly addresses: UniqueAddresses
  readonly events: Events
  /** Sends mails where a server is configured. */
  readonly mail: Mailer
  /** Where people sign in who have their password elsewhere. */
  readonly directory: Directory
  /** Providers that people sign in with. */
  readonly singleSignOn: SingleSignOn
  readonly cipher: Cipher
  readonly blobs: Blobs
  /** Of large files in Git LFS. */
  readonly largeContent: LargeContent
  /** Requests to addresses that users chose. */
  readonly outbound: Outbound
  /** Where the cloud of issue trackers keeps its keys; undefined: the usual place. */
  readonly trackerKeysUrl: URL | undefined
  readonly runnerReleasesUrl: URL | undefined
  /** Where the chat app lives. */
  readonly chatPlatform: ChatPlatform
  /** Whether captchas were solved. */
  readonly captcha: Captcha
  /** Who has to solve one to sign in. */
  readonly signInCaptcha: SignInCaptcha
  /** Keeps spam out of what everybody reads. */
  readonly spam: SpamGuard
  /** Who the instance asks who gets to which project. */
  readonly policy: PolicyServer
  readonly images: Images
  /** Where the sites of projects are served. */
  readonly sites: SiteAddresses
  /** Name servers that are asked whose a domain is; undefined: the machine's. */
  readonly siteResolvers: readonly string[] | undefined
  /** Where public hosts that projects are imported from are reached in the place of their own addresses. */
  readonly importHosts: Config['importHosts']
  readonly git: Git
  /** Makes HTML of texts, in threads of its own. */
  readonly renderer: Renderer
  /** Where the repositories lie. */
  readonly places: RepositoryPlaces
  /** Through which every ref moves. */
  readonly door: RefDoor<ProjectSubject>
}
