import { httpUrl } from '../formats.ts'
import { flag, ids, int, list, secret, text, textOrNull } from '../kinds.ts'
import { marketplace } from '../objects.ts'

/** Services of others that work with this one. */
export const integrationSettings = {
  receptive_cluster_agents_enabled: flag(
    false,
    'Lets cluster agents be reached by the service instead of dialling in.',
    { strict: true, plan: 'ultimate', needs: 'cluster agent server' },
  ),
  allow_all_integrations: flag(
    true,
    'When false, only integrations named in allowed_integrations may be active; others are treated as inactive and cannot be configured.',
    { plan: 'premium' },
  ),
  allowed_integrations: list(
    [],
    'The allowed integration names; an empty list with allow_all_integrations false blocks all.',
    { plan: 'premium' },
  ),
  tracker_connect_application_key: textOrNull(
    null,
    'OAuth application the issue-tracker app signs in with.',
    { longest: 255, vendor: 'jira_connect_application_key' },
  ),
  tracker_connect_public_key_storage_enabled: flag(
    false,
    'Lets this instance store public keys for the issue-tracker app.',
    { strict: true, vendor: 'jira_connect_public_key_storage_enabled' },
  ),
  tracker_connect_proxy_url: textOrNull(null, 'Another instance used as proxy for the issue-tracker app.', {
    longest: 255,
    format: httpUrl,
    vendor: 'jira_connect_proxy_url',
  }),
  tracker_connect_additional_audience_url: textOrNull(
    null,
    "Extra audience accepted in the issue-tracker app's tokens.",
    {
      longest: 255,
      format: httpUrl,
      vendor: 'jira_connect_additional_audience_url',
    },
  ),
  chat_app_enabled: flag(false, 'Turns the chat app on.', {
    strict: true,
    vendor: 'slack_app_enabled',
  }),
  chat_app_signing_secret: secret('Checks the signature of requests from the chat platform.', {
    vendor: 'slack_app_signing_secret',
  }),
  chat_app_verification_token: secret('Checks slash commands only (old method).', {
    vendor: 'slack_app_verification_token',
  }),
  telemetry_enabled: flag(
    false,
    'Tells a collector of events what happens here, every minute: what kind of thing was made, changed or done, and when. People and projects go by names that tell only which are the same; what the collector does not take is lost.',
    { strict: true, vendor: 'snowplow_enabled' },
  ),
  telemetry_collector_hostname: textOrNull(
    null,
    'Host, and port, of that collector. It is told by HTTPS, in the tracker protocol of Snowplow.',
    { vendor: 'snowplow_collector_hostname' },
  ),
  telemetry_database_collector_hostname: textOrNull(
    null,
    'Host, and port, of another collector, which is told that projects, groups and users were made.',
    { longest: 255, vendor: 'snowplow_database_collector_hostname' },
  ),
  telemetry_cookie_domain: textOrNull(
    null,
    "Domain of the tracker's cookie. The pages here set none; clients that do read it.",
    { vendor: 'snowplow_cookie_domain', needs: 'tracker in the pages of a user interface' },
  ),
  telemetry_app_id: textOrNull(null, 'Name of this instance that the collector is told (`aid`).', {
    vendor: 'snowplow_app_id',
  }),
  codenav_enabled: flag(
    false,
    'Whether user interfaces show links to code navigation. Clients read it; the pages here show no code.',
    {
      strict: true,
      vendor: 'sourcegraph_enabled',
      needs: 'code navigation server',
    },
  ),
  codenav_public_only: flag(true, 'Keeps those links off private and internal projects. Clients read it.', {
    strict: true,
    vendor: 'sourcegraph_public_only',
    needs: 'code navigation server',
  }),
  codenav_url: textOrNull(null, 'Address of the code navigation server. Clients open it.', {
    format: httpUrl,
    vendor: 'sourcegraph_url',
    needs: 'code navigation server',
  }),
  editor_extension_marketplace: marketplace('Extension registry used by the browser editor.', {
    vendor: 'vscode_extension_marketplace',
    recorded: true,
  }),
  chat_app_id: textOrNull(null, 'Client ID of the chat app.', {
    vendor: 'slack_app_id',
  }),
  chat_app_secret: secret('Client secret of the chat app.', {
    vendor: 'slack_app_secret',
  }),
  eks_integration_enabled: flag(false, 'Managed cluster integration.', {
    strict: true,
    needs: 'cloud provider',
  }),
  eks_account_id: textOrNull(null, 'Cloud account.', { needs: 'cloud provider' }),
  eks_access_key_id: textOrNull(null, 'Cloud access key (16-128 characters).', { needs: 'cloud provider' }),
  eks_secret_access_key: secret('Cloud secret; never returned.', { needs: 'cloud provider' }),
  gitpod_enabled: flag(
    false,
    'Whether user interfaces show links to cloud development environments. Clients read it.',
    {
      strict: true,
      needs: 'development environment host',
    },
  ),
  gitpod_url: textOrNull(null, 'Address of the host of these environments. Clients open it.', {
    format: httpUrl,
    needs: 'development environment host',
  }),
  grafana_enabled: flag(false, 'Link to the metrics dashboard.', { strict: true, recorded: true }),
  grafana_url: text('/-/grafana', 'Address of the metrics dashboard.', { recorded: true }),
  prometheus_metrics_enabled: flag(true, 'Exposes the metrics endpoint.', { strict: true }),
  metrics_method_call_threshold: int(10, 'Only slower calls are measured.', {
    min: 0,
    strict: true,
    recorded: true,
  }),
  package_metadata_purl_types: ids('Package kinds whose metadata is synchronised.', {
    plan: 'ultimate',
    needs: 'package metadata feed',
  }),
}
