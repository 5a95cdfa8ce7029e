import { flag, int } from '../kinds.ts'

/** Container images and packages. */
export const registrySettings = {
  container_registry_token_expire_delay: int(
    5,
    'Life of the tokens that the registry issues, in minutes. `exp` of a token from `/jwt/auth`.',
    { min: 1, strict: true },
  ),
  container_expiration_policies_enable_historic_entries: flag(
    false,
    'Whether cleanup policies also run for projects that are older than the policies. Tags of such projects are removed by their policy.',
  ),
  container_registry_cleanup_tags_service_max_list_size: int(
    200,
    'Tags that one run of a cleanup policy deletes at most in a repository; 0 is no limit. The rest waits for the next run.',
    { min: 0 },
  ),
  container_registry_delete_tags_service_timeout: int(
    250,
    'Seconds that one run of a cleanup policy may take in a repository; 0 is no limit. The rest waits for the next run.',
    { min: 0 },
  ),
  container_registry_expiration_policies_caching: flag(
    true,
    'Whether the dates of tags are kept in memory during a cleanup. None: the dates come from the database at once.',
    { recorded: true },
  ),
  container_registry_expiration_policies_worker_capacity: int(
    4,
    'Cleanup policies that run at once; with 0 none ever runs. Tags of projects with a policy are removed by so many workers.',
    { min: 0 },
  ),
  package_registry_cleanup_policies_worker_capacity: int(
    2,
    'Parallel package cleanup workers; 0 means package cleanup never runs.',
    { min: 0 },
  ),
  maven_package_requests_forwarding: flag(
    true,
    'A Maven download not found here is redirected (302) to the public Maven repository instead of 404.',
    { strict: true },
  ),
  npm_package_requests_forwarding: flag(
    true,
    'An npm request for an unknown package is redirected (302, or 307 for POST) to the public npm registry instead of 404.',
    { strict: true },
  ),
  pypi_package_requests_forwarding: flag(
    true,
    'A PyPI request for an unknown package is redirected (302) to the public index instead of 404.',
    { strict: true },
  ),
  package_registry_allow_anyone_to_pull_option: flag(
    true,
    'Whether projects may open their package registry to everyone; when false such projects fall back to member-only pulls.',
  ),
  nuget_skip_metadata_url_validation: flag(
    false,
    'When true, URL checks on NuGet package metadata are skipped at upload.',
  ),
  helm_max_packages_count: int(1000, 'Most charts listed in one Helm channel index.', {
    min: 1,
  }),
}
