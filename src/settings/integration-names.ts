/** What clients may name in the list of allowed integrations: the integrations that the API knows. */
export const integrationNames: ReadonlySet<string> = new Set(
  `apple_app_store asana assembla bamboo bugzilla buildkite campfire clickup confluence custom_issue_tracker datadog
  diffblue_cover discord drone_ci emails_on_push ewm external_wiki git_guardian github gitlab_slack_application
  google_cloud_platform_artifact_registry google_cloud_platform_workload_identity_federation google_play hangouts_chat
  harbor irker jenkins jira jira_cloud_app matrix mattermost mattermost_slash_commands microsoft_teams mock_ci
  mock_monitoring packagist phorge pipelines_email pivotaltracker prometheus pumble pushover redmine slack
  slack_slash_commands squash_tm teamcity telegram unify_circuit webex_teams youtrack zentao`.split(/\s+/),
)
