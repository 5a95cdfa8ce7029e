import { parseDuration } from '../kernel/lib/duration.ts'
import type { SettingName, SettingValues } from './catalogue/index.ts'
import { certificateFault } from './client-certificate.ts'
import { blank, type Faults } from './faults.ts'
import { integrationNames } from './integration-names.ts'
import { domainName } from './formats.ts'

/** What rules know besides the values. */
export interface RuleContext {
  /** Names of the configured storages. */
  readonly storages: readonly string[]
  /** Whether a branch may be called so. */
  readonly isBranchName: (name: string) => boolean
  /** Why requests to an address are refused, or undefined. */
  readonly refusalOf: (url: string) => Promise<string | undefined>
  /** Why the policy server refuses who makes the change what has this label, or undefined. */
  readonly refusalOfLabel: (label: string) => Promise<string | undefined>
}

type Add = (attribute: string, text: string) => void

interface Rule {
  /** It is looked at when one of these changes: what is stored already does not stand in the way of the rest. */
  readonly on: readonly SettingName[]
  readonly check: (values: SettingValues, add: Add, context: RuleContext) => void
}

/** While the switch is on, none of the others may be empty. */
function needed(by: SettingName, ...names: readonly SettingName[]): Rule {
  return {
    on: [by, ...names],
    check(values, add) {
      if (values[by] !== true) return
      for (const name of names) if (values[name] === null || values[name] === '') add(name, blank)
    },
  }
}

const keyRestrictions = [
  'rsa_key_restriction',
  'dsa_key_restriction',
  'ecdsa_key_restriction',
  'ed25519_key_restriction',
  'ecdsa_sk_key_restriction',
  'ed25519_sk_key_restriction',
] as const

const day = 86_400

/** The rules between settings, held against the values as they would be (completions of part 3, section 4). */
const rules: readonly Rule[] = [
  needed('spamfilter_enabled', 'spamfilter_api_key'),
  needed('spam_check_endpoint_enabled', 'spam_check_endpoint_url'),
  needed('umlrender_enabled', 'umlrender_url'),
  needed('diagrams_enabled', 'diagrams_url'),
  needed('diagramrender_enabled', 'diagramrender_url'),
  needed('codenav_enabled', 'codenav_url'),
  needed('telemetry_enabled', 'telemetry_collector_hostname'),
  needed('gitpod_enabled', 'gitpod_url'),
  needed('eks_integration_enabled', 'eks_account_id'),
  needed(
    'chat_app_enabled',
    'chat_app_id',
    'chat_app_secret',
    'chat_app_signing_secret',
    'chat_app_verification_token',
  ),
  needed('recaptcha_enabled', 'recaptcha_site_key', 'recaptcha_private_key'),
  needed('login_recaptcha_protection_enabled', 'recaptcha_site_key', 'recaptcha_private_key'),
  needed('mailgun_events_enabled', 'mailgun_signing_key'),
  needed('asset_proxy_enabled', 'asset_proxy_url', 'asset_proxy_secret_key'),
  needed('unique_ips_limit_enabled', 'unique_ips_limit_per_user', 'unique_ips_limit_time_window'),
  needed('external_authorization_service_enabled', 'external_authorization_service_default_label'),
  {
    on: ['external_authorization_service_enabled', 'external_authorization_service_timeout'],
    check(values, add) {
      if (!values.external_authorization_service_enabled) return
      const timeout = values.external_authorization_service_timeout
      if (timeout === null) add('external_authorization_service_timeout', 'is not a number')
      else if (timeout <= 0) add('external_authorization_service_timeout', 'must be greater than 0')
    },
  },
  {
    on: ['domain_denylist_enabled', 'domain_denylist'],
    check(values, add) {
      if (values.domain_denylist_enabled && values.domain_denylist.length === 0) {
        add('domain_denylist', 'Domain denylist cannot be empty if denylist is enabled.')
      }
    },
  },
  {
    on: ['enforce_terms', 'terms'],
    check(values, add) {
      if (values.enforce_terms && values.terms === null) {
        add('base', 'You need to set terms to be enforced')
      }
    },
  },
  {
    on: ['default_project_visibility', 'default_group_visibility', 'restricted_visibility_levels'],
    check(values, add) {
      for (const name of ['default_project_visibility', 'default_group_visibility'] as const) {
        if (values.restricted_visibility_levels.includes(values[name])) {
          add(name, 'cannot be set to a restricted visibility level')
        }
      }
    },
  },
  {
    on: keyRestrictions,
    check(values, add) {
      if (keyRestrictions.every((name) => values[name] === -1)) add('allowed_key_types', blank)
    },
  },
  {
    on: ['deactivate_dormant_users', 'deactivate_dormant_users_period'],
    check({ deactivate_dormant_users: on, deactivate_dormant_users_period: days }, add) {
      if (on && days < 90) {
        add(
          'deactivate_dormant_users_period',
          `'${days}' days of inactivity must be greater than or equal to 90`,
        )
      }
    },
  },
  {
    on: ['delete_unconfirmed_users', 'email_confirmation_setting', 'unconfirmed_users_delete_after_days'],
    check(values, add) {
      if (!values.delete_unconfirmed_users) return
      if (values.email_confirmation_setting === 'off') {
        add('delete_unconfirmed_users', 'must be false when email confirmation setting is off')
      } else if (
        values.email_confirmation_setting === 'soft' &&
        values.unconfirmed_users_delete_after_days <= 3
      ) {
        add('unconfirmed_users_delete_after_days', 'must be greater than 3')
      }
    },
  },
  {
    on: ['inactive_projects_delete_after_months', 'inactive_projects_send_warning_email_after_months'],
    check(values, add) {
      const last = values.inactive_projects_delete_after_months
      if (values.inactive_projects_send_warning_email_after_months >= last) {
        add('inactive_projects_send_warning_email_after_months', `must be less than ${last}`)
      }
    },
  },
  {
    on: ['default_branch_name'],
    check({ default_branch_name: name }, add, { isBranchName }) {
      if (name !== null && !isBranchName(name)) add('default_branch_name', 'is invalid')
    },
  },
  {
    on: ['archive_builds_in_human_readable'],
    check({ archive_builds_in_human_readable: age }, add) {
      if (age !== null && (parseDuration(age) ?? day) < day) {
        add('archive_builds_in_seconds', 'must be at least 1 day')
      }
    },
  },
  {
    on: ['default_artifacts_expire_in'],
    check(values, add) {
      if (values.default_artifacts_expire_in === '') {
        add('default_artifacts_expire_in', blank)
      }
    },
  },
  {
    on: ['default_preferred_language', 'geo_node_allowed_ips'],
    check(values, add) {
      if (values.default_preferred_language === '') {
        add('default_preferred_language', 'is not included in the list')
      }
      if (values.geo_node_allowed_ips === '') add('geo_node_allowed_ips', blank)
    },
  },
  {
    on: ['auto_devops_enabled', 'auto_devops_domain'],
    check({ auto_devops_enabled: on, auto_devops_domain: domain }, add) {
      const fault = on && domain !== null ? domainName(domain) : undefined
      if (fault !== undefined) add('auto_devops_domain', fault)
    },
  },
  {
    on: ['gitaly_timeout_default', 'gitaly_timeout_medium', 'gitaly_timeout_fast'],
    check({ gitaly_timeout_default: long, gitaly_timeout_medium: medium, gitaly_timeout_fast: fast }, add) {
      if (medium > long && long > 0) add('gitaly_timeout_medium', `must be less than or equal to ${long}`)
      if (fast > medium) add('gitaly_timeout_fast', `must be less than or equal to ${medium}`)
    },
  },
  {
    on: ['static_objects_external_storage_url', 'static_objects_external_storage_auth_token'],
    check(values, add) {
      const token = values.static_objects_external_storage_auth_token
      if (values.static_objects_external_storage_url !== null && token === null) {
        add('static_objects_external_storage_auth_token', blank)
      }
    },
  },
  {
    on: ['external_auth_client_cert', 'external_auth_client_key', 'external_auth_client_key_pass'],
    check(values, add) {
      const fault = certificateFault(values)
      if (fault !== undefined) add(...fault)
    },
  },
  {
    on: ['elasticsearch_indexing', 'elasticsearch_url'],
    check({ elasticsearch_indexing: on, elasticsearch_url: urls }, add) {
      if (on && urls.length === 0) add('elasticsearch_url', "can't be blank when indexing is enabled")
      if (urls.some((url) => !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))) {
        add('elasticsearch_url', 'only supports valid HTTP(S) URLs.')
      }
    },
  },
  {
    on: ['allowed_integrations'],
    check({ allowed_integrations: names }, add) {
      if (!names.every((name) => integrationNames.has(name))) {
        add('allowed_integrations', 'contains unknown integration names')
      }
    },
  },
  {
    on: ['repository_storages_weighted'],
    check({ repository_storages_weighted: weights }, add, { storages }) {
      const unknown = Object.keys(weights).filter((name) => !storages.includes(name))
      if (unknown.length > 0) {
        add('repository_storages_weighted', `can't include: ${unknown.join(', ')}`)
      }
    },
  },
]

const outside = ['tracker_connect_proxy_url', 'tracker_connect_additional_audience_url'] as const

/** What others have to be asked about, so that no transaction waits for it: hosts of addresses, and the policy server. */
export async function checkElsewhere(
  change: Partial<SettingValues>,
  before: SettingValues,
  { refusalOf, refusalOfLabel }: RuleContext,
  faults: Faults,
): Promise<void> {
  for (const name of outside) {
    const url = change[name]
    const refusal = url ? await refusalOf(url) : undefined
    if (refusal !== undefined) faults.rule(name, `is blocked: ${refusal}`)
  }
  const labelled = 'external_authorization_service_default_label'
  const label = change[labelled]
  if (label && label !== before[labelled] && change.external_authorization_service_enabled !== false) {
    const refusal = await refusalOfLabel(label)
    if (refusal !== undefined) faults.rule(labelled, `is unavailable: ${refusal}`)
  }
}

export function checkRules(
  values: SettingValues,
  changed: readonly SettingName[],
  context: RuleContext,
  faults: Faults,
): void {
  for (const { on, check } of rules) {
    if (on.some((name) => changed.includes(name))) {
      check(values, (attribute, text) => faults.rule(attribute, text), context)
    }
  }
}
