import { flag, ids, int, list, secret, text, textOrNull } from '../kinds.ts'

/** Advanced search, with a cluster of its own. */
export const searchSettings = {
  elasticsearch_indexing: flag(false, 'Indexes content for advanced search.', {
    strict: true,
    plan: 'premium',
  }),
  elasticsearch_search: flag(false, 'Answers searches from the index.', {
    strict: true,
    plan: 'premium',
  }),
  elasticsearch_url: list(['http://localhost:9200'], 'Addresses of the search cluster.', {
    commas: true,
    plan: 'premium',
  }),
  elasticsearch_username: textOrNull(null, 'Search cluster user.', {
    longest: 255,
    plan: 'premium',
  }),
  elasticsearch_password: secret('Search cluster password.', {
    longest: 255,
    plan: 'premium',
  }),
  elasticsearch_limit_indexing: flag(false, 'Restricts indexing to listed groups and projects.', {
    strict: true,
    plan: 'premium',
  }),
  elasticsearch_namespace_ids: ids('Groups to index.', { plan: 'premium' }),
  elasticsearch_project_ids: ids('Projects to index.', { plan: 'premium' }),
  elasticsearch_shards: int(5, 'Shards of the index.', { plan: 'premium' }),
  elasticsearch_replicas: int(1, 'Replicas of the index.', { plan: 'premium' }),
  elasticsearch_pause_indexing: flag(false, 'Pauses indexing.', {
    strict: true,
    plan: 'premium',
  }),
  elasticsearch_aws: flag(false, 'Hosted search cluster.', {
    strict: true,
    plan: 'premium',
  }),
  elasticsearch_aws_region: text('us-east-1', 'Region of the hosted cluster.', {
    plan: 'premium',
  }),
  elasticsearch_aws_access_key: textOrNull(null, 'Access key of the hosted cluster.', {
    plan: 'premium',
  }),
  elasticsearch_aws_secret_access_key: secret('Secret of the hosted cluster.', {
    plan: 'premium',
  }),
  elasticsearch_indexed_field_length_limit: int(0, 'Longest indexed text.', {
    min: 0,
    plan: 'premium',
  }),
  elasticsearch_indexed_file_size_limit_kb: int(1024, 'Largest indexed file.', {
    min: 1,
    plan: 'premium',
  }),
  elasticsearch_max_bulk_size_mb: int(10, 'Largest bulk request.', {
    min: 1,
    plan: 'premium',
  }),
  elasticsearch_max_bulk_concurrency: int(10, 'Parallel bulk requests.', {
    min: 1,
    plan: 'premium',
  }),
  elasticsearch_max_code_indexing_concurrency: int(30, 'Parallel code indexing jobs.', {
    min: 0,
    plan: 'premium',
  }),
  elasticsearch_requeue_workers: flag(
    false,
    'An indexing worker that was given as much as it takes goes on at once, instead of resting for ten seconds.',
    { plan: 'premium' },
  ),
  elasticsearch_worker_number_of_shards: int(2, 'Indexing worker shards.', {
    min: 1,
    plan: 'premium',
  }),
  elasticsearch_retry_on_failure: int(0, 'Retries of a failed search.', {
    min: 0,
    plan: 'premium',
  }),
  elasticsearch_client_request_timeout: int(0, 'Search request time-out, in seconds; 0 default.', {
    min: 0,
    plan: 'premium',
  }),
}
