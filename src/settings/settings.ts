import type { Plan } from '../kernel/config/index.ts'
import type { Database, Notifications, Tx } from '../kernel/db/index.ts'
import type { Cipher } from '../kernel/lib/secrets.ts'
import type { Logger } from '../kernel/log/index.ts'
import { appearanceOf, storedAppearanceName, usualAppearance, type Appearance } from './appearance.ts'
import { catalogue, defaults, type SettingName, type SettingValues } from './catalogue/index.ts'
import {
  differences,
  isSame,
  readChange,
  readSignInSwitches,
  withConsequences,
  type Change,
} from './change.ts'
import { Faults } from './faults.ts'
import {
  flagsOf,
  gatesOf,
  isOn,
  storedName,
  type FlagActor,
  type FlagName,
  type Flags,
  type Gates,
  type StoredGates,
} from './flags.ts'
import {
  limitsOf,
  planLimitNames,
  planLimits,
  storedLimits,
  storedLimitsName,
  type PlanLimitName,
  type PlanLimits,
  type StoredLimits,
} from './plan-limits.ts'
import { checkElsewhere, checkRules, type RuleContext } from './rules.ts'
import { fromStored, toStored, valuesOf } from './stored-values.ts'
import * as store from './store.ts'

/** Should a notification be lost, a change is seen after this many milliseconds. */
const refreshInterval = 60_000

export interface SettingsServices {
  readonly db: Database
  readonly notifications: Notifications
  readonly cipher: Cipher
  readonly plan: Plan
  /** Names of the configured providers of identities. */
  readonly signInSources: readonly string[]
  readonly log: Logger
}

/** One setting of a change. */
export interface Changed {
  readonly name: SettingName
  readonly before: unknown
  readonly after: unknown
}

export interface ChangeOptions {
  readonly userId: number | null
  readonly context: RuleContext
  /** Everything is checked, and nothing stored. */
  readonly dryRun?: boolean
}

/** The typed snapshot that all code reads; a change replaces it on every node. */
export class Settings implements AsyncDisposable {
  readonly #services: SettingsServices
  readonly #timer: NodeJS.Timeout
  #values: SettingValues = defaults
  #flags: Flags = flagsOf([])
  #gates: readonly StoredGates[] = []
  #limits: PlanLimits = planLimits
  #appearance: Appearance = usualAppearance
  readonly #listeners: (() => void)[] = []

  constructor(services: SettingsServices) {
    this.#services = services
    services.notifications.subscribe(store.channel, () => void this.#refresh())
    this.#timer = setInterval(() => void this.#refresh(), refreshInterval).unref()
  }

  get values(): SettingValues {
    return this.#values
  }

  /** The features that are on for everybody. */
  get flags(): Flags {
    return this.#flags
  }

  /** What was said of features. */
  get gates(): readonly StoredGates[] {
    return this.#gates
  }

  /** Whether a feature is on for one of these, or for everybody. */
  isOn(flag: FlagName, ...actors: readonly FlagActor[]): boolean {
    return isOn(flag, this.#gates.find(({ name }) => name === flag)?.gates, actors)
  }

  get limits(): PlanLimits {
    return this.#limits
  }

  get appearance(): Appearance {
    return this.#appearance
  }

  async load(): Promise<void> {
    const { db, plan, cipher } = this.#services
    const stored = await store.readStored(db.reader)
    this.#values = valuesOf(stored, plan, cipher)
    this.#gates = gatesOf(stored)
    this.#flags = flagsOf(this.#gates)
    this.#limits = limitsOf(stored)
    this.#appearance = appearanceOf(stored)
    for (const told of this.#listeners) told()
  }

  /** `told`: called each time they have been read again, here or after a change on another node. */
  onLoad(told: () => void): void {
    this.#listeners.push(told)
  }

  /** All settings as this stored state says: what an answer shows does not come from the snapshot. */
  of(stored: readonly store.StoredSetting[]): SettingValues {
    return valuesOf(stored, this.#services.plan, this.#services.cipher)
  }

  /** What a request asks for, checked and stored as a whole; every node is told, and here it is in force at once. */
  async update(sent: Readonly<Record<string, unknown>>, options: ChangeOptions): Promise<Changed[]> {
    const faults = new Faults()
    const asked = readChange(sent, this.#services.plan, faults)
    const signIn = readSignInSwitches(sent, faults)
    await checkElsewhere(asked, this.#values, options.context, faults)
    return this.#change(options, faults, async (before) => {
      const change = withConsequences(asked, before, faults, this.#services.signInSources)
      return Object.keys(signIn).length === 0
        ? change
        : {
            ...change,
            sign_in_restrictions: {
              ...(change.sign_in_restrictions ?? before.sign_in_restrictions),
              ...signIn,
            },
          }
    })
  }

  /** Brings back all settings as they were under a revision; undefined where there is none. */
  async restore(revision: number, options: ChangeOptions): Promise<Changed[] | undefined> {
    const { cipher } = this.#services
    const found = { revision: true }
    const changed = await this.#change({ ...options, restores: revision }, new Faults(), async (_, tx) => {
      const state = await store.readStateAt(tx, revision)
      found.revision = state !== undefined
      const known = (state ?? []).filter(({ name }) => Object.hasOwn(catalogue, name))
      return Object.fromEntries(
        known.map(({ name, value }) => [name, fromStored(name as SettingName, value, cipher)]),
      )
    })
    return found.revision ? changed : undefined
  }

  /** Stores values that need no check, in the same way. */
  async change(values: Change): Promise<void> {
    await this.#change({ userId: null }, undefined, async () => values)
  }

  async #change(
    options: Omit<ChangeOptions, 'context'> & { context?: RuleContext; restores?: number },
    faults: Faults | undefined,
    wanted: (before: SettingValues, tx: Tx) => Promise<Change>,
  ): Promise<Changed[]> {
    const { db, cipher } = this.#services
    const changed = await db.transaction(async (tx) => {
      await store.lock(tx)
      const before = this.of(await store.readStored(tx))
      const change = await wanted(before, tx)
      const names = differences(change, before)
      if (faults !== undefined && options.context !== undefined) {
        const considered = Object.keys(change) as SettingName[]
        checkRules({ ...before, ...change }, considered, options.context, faults)
        faults.throwIfAny()
      }
      const found = names.map((name) => ({ name, before: before[name], after: change[name] }))
      if (found.length > 0 && options.dryRun !== true) {
        const rows = found.map(({ name, ...values }) => ({
          name,
          before: toStored(name, values.before, cipher),
          after: toStored(name, values.after, cipher),
          usual: isSame(values.after, defaults[name]),
        }))
        await store.writeChanges(tx, rows, options)
      }
      return found
    })
    if (changed.length > 0 && options.dryRun !== true) await this.load()
    return changed
  }

  /** Switches a feature on or off, in the same way. */
  async switch(flag: FlagName, on: boolean): Promise<void> {
    await this.changeGates(flag, () => ({ boolean: on }))
  }

  /** Says something else of a feature; nothing at all forgets it. */
  async changeGates(flag: string, change: (before: Gates) => Gates): Promise<Gates> {
    const after = await this.#services.db.transaction(async (tx) => {
      await store.lock(tx)
      const before = gatesOf(await store.readStored(tx)).find(({ name }) => name === flag)?.gates ?? {}
      const gates = change(before)
      if (Object.keys(gates).length > 0) await store.writeOne(tx, storedName(flag), gates)
      else await store.removeOne(tx, storedName(flag))
      return gates
    })
    await this.load()
    return after
  }

  async storedLimits(): Promise<StoredLimits> {
    return storedLimits(await store.readStored(this.#services.db.reader))
  }

  /** Sets limits; those that are left out stay. Every node is told. */
  async changeLimits(
    asked: Readonly<Partial<Record<PlanLimitName, number | undefined>>>,
    { id, username }: { readonly id: number; readonly username: string },
  ): Promise<void> {
    const timestamp = Math.floor(Date.now() / 1000)
    await this.#services.db.transaction(async (tx) => {
      await store.lock(tx)
      const stored = await store.readStored(tx)
      const before = limitsOf(stored)
      const { limits, history } = storedLimits(stored)
      const changed = planLimitNames.flatMap((name) => {
        const value = asked[name]
        return value === undefined || value === before[name] ? [] : [{ name, value }]
      })
      if (changed.length === 0) return
      const after: StoredLimits = {
        limits: { ...limits, ...Object.fromEntries(changed.map(({ name, value }) => [name, value])) },
        history: {
          ...history,
          ...Object.fromEntries(
            changed.map(({ name, value }) => [
              name,
              [...(history[name] ?? []), { user_id: id, username, timestamp, value }],
            ]),
          ),
        },
      }
      await store.writeOne(tx, storedLimitsName, after)
    })
    await this.load()
  }

  async storedAppearance(): Promise<Appearance> {
    return appearanceOf(await store.readStored(this.#services.db.reader))
  }

  /** Changes how the instance shows itself, and with it what `also` writes. Every node is told. */
  async changeAppearance(change: Partial<Appearance>, also: (tx: Tx) => Promise<void>): Promise<Appearance> {
    const after = await this.#services.db.transaction(async (tx) => {
      await store.lock(tx)
      const changed = { ...appearanceOf(await store.readStored(tx)), ...change }
      await store.writeOne(tx, storedAppearanceName, changed)
      await also(tx)
      return changed
    })
    await this.load()
    return after
  }

  async #refresh(): Promise<void> {
    try {
      await this.load()
    } catch (error) {
      this.#services.log.warn({ err: error }, 'could not read the settings; the last ones stay in force')
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
  }
}
