import { Flag, Int } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

/** Container images: tokens of the registry, and the cleanup of tags. */
export const registrySettings = {
  container_registry_token_expire_delay: setting(Int({ minimum: 1 }), 5, {
    about: 'Life of the tokens that the registry issues, in minutes.',
    effect: '`exp` of a token from `/jwt/auth`.',
  }),
  container_expiration_policies_enable_historic_entries: setting(Flag(), false, {
    about: 'Whether cleanup policies also run for projects that are older than the policies.',
    effect: 'Tags of such projects are removed by their policy.',
  }),
  container_registry_cleanup_tags_service_max_list_size: setting(Int({ minimum: 0 }), 200, {
    about: 'Tags that one run of a cleanup policy deletes at most in a repository; 0 is no limit.',
    effect: 'The rest waits for the next run.',
  }),
  container_registry_delete_tags_service_timeout: setting(Int({ minimum: 0 }), 250, {
    about: 'Seconds that one run of a cleanup policy may take in a repository; 0 is no limit.',
    effect: 'The rest waits for the next run.',
  }),
  container_registry_expiration_policies_caching: setting(Flag(), true, {
    about: 'Whether the dates of tags are kept in memory during a cleanup.',
    effect: 'None: the dates come from the database at once.',
  }),
  container_registry_expiration_policies_worker_capacity: setting(Int({ minimum: 0 }), 4, {
    about: 'Cleanup policies that run at once; with 0 none ever runs.',
    effect: 'Tags of projects with a policy are removed by so many workers.',
  }),
}
