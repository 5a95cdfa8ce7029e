package metrics

type CollectorOption func()

func WithCollectorNamespace(string) CollectorOption                       { return func() {} }
func WithCollectorBatchDeliveryDurationBuckets([]float64) CollectorOption { return func() {} }
